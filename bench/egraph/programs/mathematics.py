"""Symbolic mathematics: the two dozen rules that every e-graph engine is measured on, and the same with rational
constant folding under a back-off scheduler."""

UNARY = ("Ln", "Sqrt", "Sin", "Cos")
BINARY = ("Diff", "Integral", "Add", "Sub", "Mul", "Div", "Pow")


def datatype(constant):
    members = [f"  ({name} Math Math)" for name in BINARY] + [f"  ({name} Math)" for name in UNARY]
    return "\n".join(["(datatype Math", *members, f"  (Const {constant})", "  (Var String))", ""])


RULES = [
    ("(Add a b)", "(Add b a)"),
    ("(Mul a b)", "(Mul b a)"),
    ("(Add a (Add b c))", "(Add (Add a b) c)"),
    ("(Mul a (Mul b c))", "(Mul (Mul a b) c)"),
    ("(Sub a b)", "(Add a (Mul #-1 b))"),
    ("(Add a #0)", "a"),
    ("(Mul a #0)", "#0"),
    ("(Mul a #1)", "a"),
    ("(Sub a a)", "#0"),
    ("(Mul a (Add b c))", "(Add (Mul a b) (Mul a c))"),
    ("(Add (Mul a b) (Mul a c))", "(Mul a (Add b c))"),
    ("(Mul (Pow a b) (Pow a c))", "(Pow a (Add b c))"),
    ("(Pow x #1)", "x"),
    ("(Pow x #2)", "(Mul x x)"),
    ("(Diff x (Add a b))", "(Add (Diff x a) (Diff x b))"),
    ("(Diff x (Mul a b))", "(Add (Mul a (Diff x b)) (Mul b (Diff x a)))"),
    ("(Diff x (Sin x))", "(Cos x)"),
    ("(Diff x (Cos x))", "(Mul #-1 (Sin x))"),
    ("(Integral #1 x)", "x"),
    ("(Integral (Cos x) x)", "(Sin x)"),
    ("(Integral (Sin x) x)", "(Mul #-1 (Cos x))"),
    ("(Integral (Add f g) x)", "(Add (Integral f x) (Integral g x))"),
    ("(Integral (Sub f g) x)", "(Sub (Integral f x) (Integral g x))"),
    ("(Integral (Mul a b) x)", "(Sub (Mul a (Integral b x)) (Integral (Mul (Diff x a) (Integral b x)) x))"),
]

GUARDED_RULES = [
    ("(Div a b)", "(Mul a (Pow b #-1))", "(not-zero b)"),
    ("(Div a a)", "#1", "(not-zero a)"),
    ("(Pow x #0)", "#1", "(not-zero x)"),
    ("(Pow x #-1)", "(Div #1 x)", "(not-zero x)"),
    ("(Mul x (Div #1 x))", "#1", "(not-zero x)"),
    ("(Diff x x)", "#1", "(symbol x)"),
    ("(Diff x c)", "#0", "(symbol x) (independent c x)"),
    ("(Diff x (Ln x))", "(Div #1 x)", "(not-zero x)"),
    ("(Diff x (Pow f g))", "(Mul (Pow f g) (Add (Mul (Diff x f) (Div g f)) (Mul (Diff x g) (Ln f))))",
     "(not-zero f) (not-zero g)"),
    ("(Integral (Pow x c) x)", "(Div (Pow x (Add c #1)) (Add c #1))", "(= v (value c))"),
]

TERMS = [
    '(Integral (Ln $x) $x)',
    '(Integral (Add $x (Cos $x)) $x)',
    '(Integral (Mul (Cos $x) $x) $x)',
    '(Diff $x (Add #1 (Mul #2 $x)))',
    '(Diff $x (Sub (Pow $x #3) (Mul #7 (Pow $x #2))))',
    '(Add (Mul $y (Add $x $y)) (Sub (Add $x #2) (Add $x $x)))',
    '(Div #1 (Sub (Div (Add #1 (Sqrt $five)) #2) (Div (Sub #1 (Sqrt $five)) #2)))',
]


def expand(text, constant):
    """#n stands for a constant, $x for a variable: `constant` is the text of a number given its digits."""
    out, i = [], 0
    while i < len(text):
        if text[i] in "#$":
            end = i + 1
            while end < len(text) and (text[end].isalnum() or text[end] == "-"):
                end += 1
            word = text[i + 1:end]
            out.append(f"(Const {constant(word)})" if text[i] == "#" else f'(Var "{word}")')
            i = end
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def plain(iterations):
    def number(digits):
        return digits
    lines = [datatype("i64")]
    lines += [f"(rewrite {expand(left, number)} {expand(right, number)})" for left, right in RULES]
    lines += [expand(term, number) for term in TERMS]
    lines += [f"(run {iterations})", "(print-size)", ""]
    return "\n".join(lines)


FOLDING = """
(ruleset folding)
(ruleset rules)
(function value (Math) Rational :no-merge)
(relation not-zero (Math))
(relation symbol (Math))
(relation independent (Math Math))
(rule ((= e (Const c))) ((set (value e) c)) :ruleset folding)
(rule ((= e (Add a b)) (= x (value a)) (= y (value b))) ((set (value e) (+ x y))) :ruleset folding)
(rule ((= e (Sub a b)) (= x (value a)) (= y (value b))) ((set (value e) (- x y))) :ruleset folding)
(rule ((= e (Mul a b)) (= x (value a)) (= y (value b))) ((set (value e) (* x y))) :ruleset folding)
(rule ((= e (Div a b)) (= x (value a)) (= y (value b)) (!= y (rational 0 1))) ((set (value e) (/ x y)))
      :ruleset folding)
(rule ((= x (value e))) ((union e (Const x))) :ruleset folding)
(rule ((= x (value e)) (!= x (rational 0 1))) ((not-zero e)) :ruleset folding)
(rule ((= e (Var name))) ((symbol e) (not-zero e)) :ruleset folding)
(rule ((= e (Diff x c)) (= x (Var name)) (= v (value c))) ((independent c x)) :ruleset folding)
(rule ((= e (Diff x c)) (= x (Var name)) (= c (Var other)) (!= name other)) ((independent c x)) :ruleset folding)
"""


def folding(iterations, match_limit, ban_length):
    def number(digits):
        return f"(rational {digits} 1)"
    lines = [datatype("Rational"), FOLDING]
    for left, right in RULES:
        lines.append(f"(rewrite {expand(left, number)} {expand(right, number)} :ruleset rules)")
    for left, right, when in GUARDED_RULES:
        lines.append(f"(rewrite {expand(left, number)} {expand(right, number)} :when ({when}) :ruleset rules)")
    lines += [expand(term, number) for term in TERMS]
    lines += [
        "(run-schedule",
        f"  (let-scheduler bo (back-off :match-limit {match_limit} :ban-length {ban_length}))",
        f"  (repeat {iterations} (saturate folding) (run-with bo rules)))",
        "(print-size)",
        "",
    ]
    return "\n".join(lines)
