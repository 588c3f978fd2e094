"""Every case of the comparison: a name, what it is, and how its text is made."""

from collections.abc import Callable
from dataclasses import dataclass

from programs import compiler, containers, datalog, front_end, lambda_calculus, mathematics, numeric

LAYERS = (0, 1, 2, 4, 8, 16, 32, 48)


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    text: Callable[[], str]
    rows: int = 0  # how many rows there must be at the end, where that is known
    egglog: bool = True  # whether egglog runs it too


def all_cases():
    cases = [
        Case("math", "math, 11 iterations", lambda: mathematics.plain(11), rows=1_047_896),
        Case("math-large", "math, 12 iterations", lambda: mathematics.plain(12), rows=15_987_528, egglog=False),
        Case("folding", "math with folding, back-off", lambda: mathematics.folding(14, 20_000, 5)),
        Case("lambda", "lambda calculus", lambda: lambda_calculus.text(27, 7, 5)),
        Case("points-to", "points-to", lambda: datalog.points_to(12_000, 50)),
        Case("closure", "transitive closure", lambda: datalog.transitive_closure(1511)),
        Case("closure-large", "transitive closure, 4,001 nodes", lambda: datalog.transitive_closure(4001),
             rows=13_131_893, egglog=False),
        Case("triangle", "triangle join", lambda: datalog.triangle(4001, 40)),
        Case("rectangle", "rectangle join", lambda: datalog.rectangle(2003, 12)),
        Case("numeric", "numeric identities, back-off", lambda: numeric.text(10, 8000)),
        Case("lets", "5,000 lets, 300 checks", lambda: front_end.lets(5000, 300)),
        Case("expressions", "expressions of 50,000 nodes", lambda: front_end.expressions(25_000, 2000, 10)),
        Case("containers", "containers", lambda: containers.text(3000)),
    ]
    for layers in LAYERS:
        cases.append(Case(f"compiler-{layers}", f"compiler rules, {layers} layers", lambda n=layers: compiler.text(n)))
    return {case.name: case for case in cases}


def choose(names):
    """The cases named in a list with commas, where a name without its number stands for all of them; every case if none
    are named."""
    cases = all_cases()
    if not names:
        return list(cases.values())
    chosen = []
    for name in names.split(","):
        found = [case for case in cases.values() if case.name == name or case.name.rpartition("-")[0] == name
                 and case.name.rpartition("-")[2].isdigit()]
        if not found:
            raise SystemExit(f"no case is called `{name}`; there are {', '.join(cases)}")
        chosen += found
    return chosen
