"""Pure Datalog over i64. Facts are made by rules from arithmetic, so reading facts costs nothing worth measuring."""

NODES = """
(ruleset make)
(relation node (i64))
(node 0)
(node 1)
(rule ((node i) (> i 0) (< (* 2 i) {count})) ((node (* 2 i))) :ruleset make)
(rule ((node i) (> i 0) (< (+ 1 (* 2 i)) {count})) ((node (+ 1 (* 2 i)))) :ruleset make)
"""

RUN = """
(run-schedule (saturate make) {then})
(print-size)
"""


def pick(modulus, salt, of="i"):
    """An expression for a number below `modulus` that looks random in `of` and depends on `salt`."""
    return f"(% (* (+ {of} {salt}) (+ {7919 + 2 * salt} (* {of} {of}))) {modulus})"


def transitive_closure(count):
    """Paths in a graph of `count` nodes with two edges out of each."""
    return (
        NODES.format(count=count)
        + f"""
(relation edge (i64 i64))
(relation path (i64 i64))
(rule ((node i)) ((edge i {pick(count, 3)}) (edge i {pick(count, 101)})) :ruleset make)
(rule ((edge x y)) ((path x y)))
(rule ((path x y) (edge y z)) ((path x z)))
"""
        + RUN.format(then="(saturate (run))")
    )


def points_to(count, module):
    """Andersen's analysis: inclusion constraints with fields, for modules of `module` variables with few links between
    them."""
    def local(salt):
        return f"(+ (* {module} (/ i {module})) {pick(module, salt)})"

    return (
        NODES.format(count=count)
        + f"""
(relation alloc (i64 i64))
(relation assign (i64 i64))
(relation load (i64 i64 i64))
(relation store (i64 i64 i64))
(relation points-to (i64 i64))
(relation heap (i64 i64 i64))
(relation alias (i64 i64))
(rule ((node i) (= 0 (% i 5))) ((alloc i i)) :ruleset make)
(rule ((node i)) ((assign i {local(5)})) :ruleset make)
(rule ((node i) (= 0 (% i 97))) ((assign i {pick(count, 11)})) :ruleset make)
(rule ((node i) (= 1 (% i 4))) ((load i {local(23)} (% i 3))) :ruleset make)
(rule ((node i) (= 3 (% i 4))) ((store {local(29)} (% i 3) i)) :ruleset make)
(rule ((alloc v h)) ((points-to v h)))
(rule ((assign to from) (points-to from h)) ((points-to to h)))
(rule ((store base f v) (points-to base h) (points-to v g)) ((heap h f g)))
(rule ((load v base f) (points-to base h) (heap h f g)) ((points-to v g)))
(rule ((points-to v h) (points-to w h) (load v2 v f) (store w f v3)) ((alias v w)))
"""
        + RUN.format(then="(saturate (run))")
    )


def skewed_edges(count, degree):
    """Edges whose ends crowd at low numbers: products of two picks, as in graphs with hubs."""
    rules = []
    for salt in range(degree):
        end = f"(/ (* {pick(count, 13 + 7 * salt)} {pick(count, 17 + 11 * salt)}) {count})"
        rules.append(f"(rule ((node i)) ((edge i {end}) (edge {end} i)) :ruleset make)")
    return "(relation edge (i64 i64))\n" + "\n".join(rules) + "\n"


def triangle(count, degree):
    return (
        NODES.format(count=count)
        + skewed_edges(count, degree)
        + """
(relation triangle (i64 i64 i64))
(rule ((edge a b) (edge b c) (edge c a) (< a b) (< b c)) ((triangle a b c)))
"""
        + RUN.format(then="(run)")
    )


def rectangle(count, degree):
    """Four corners joined in a ring: the cyclic join that two-way join plans handle badly."""
    return (
        NODES.format(count=count)
        + skewed_edges(count, degree)
        + """
(relation top (i64 i64))
(relation right (i64 i64))
(relation bottom (i64 i64))
(relation left (i64 i64))
(relation rectangle (i64 i64 i64 i64))
(rule ((edge a b) (= 0 (% (+ a b) 3))) ((top a b)) :ruleset make)
(rule ((edge a b) (= 1 (% (+ a b) 3))) ((right a b)) :ruleset make)
(rule ((edge a b) (= 2 (% (+ a b) 3))) ((bottom a b)) :ruleset make)
(rule ((edge a b) (= 0 (% (* a b) 3))) ((left a b)) :ruleset make)
(rule ((top a b) (right b c) (bottom c d) (left d a)) ((rectangle a b c d)))
"""
        + RUN.format(then="(run)")
    )
