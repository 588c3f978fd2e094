"""Rewriting floating-point expressions the way Herbie does: many algebraic identities over a few expressions that lose
accuracy as written."""

UNARY = ("Neg", "Sqrt", "Cbrt", "Fabs", "Exp", "Log", "Sin", "Cos", "Tan", "Expm1", "Log1p")
BINARY = ("Add", "Sub", "Mul", "Div", "Pow", "Hypot")

# (left, right) or (left, right, condition); `<->` means both ways. #n is a constant.
IDENTITIES = """
(Add a b) -> (Add b a)
(Mul a b) -> (Mul b a)
(Add a (Add b c)) <-> (Add (Add a b) c)
(Mul a (Mul b c)) <-> (Mul (Mul a b) c)
(Sub a b) <-> (Add a (Neg b))
(Sub (Add a b) c) -> (Add a (Sub b c))
(Sub a (Add b c)) -> (Sub (Sub a b) c)
(Mul a (Add b c)) <-> (Add (Mul a b) (Mul a c))
(Mul a (Sub b c)) <-> (Sub (Mul a b) (Mul a c))
(Div (Add a b) c) <-> (Add (Div a c) (Div b c))
(Div (Sub a b) c) <-> (Sub (Div a c) (Div b c))
(Div (Mul a b) c) <-> (Mul a (Div b c))
(Div a (Mul b c)) <-> (Div (Div a b) c)
(Div a (Div b c)) -> (Div (Mul a c) b)
(Div a b) -> (Mul a (Div #1 b))
(Neg (Neg a)) -> a
(Neg a) <-> (Mul #-1 a)
(Neg (Add a b)) -> (Sub (Neg a) b)
(Neg (Mul a b)) -> (Mul (Neg a) b)
(Neg (Div a b)) -> (Div (Neg a) b)
(Add a #0) -> a
(Sub a #0) -> a
(Sub #0 a) -> (Neg a)
(Sub a a) -> #0
(Mul a #1) -> a
(Mul a #0) -> #0
(Div a #1) -> a
(Div #0 a) -> #0 when (not-zero a)
(Div a a) -> #1 when (not-zero a)
(Mul (Sub a b) (Add a b)) <-> (Sub (Mul a a) (Mul b b))
(Sub a b) -> (Div (Sub (Mul a a) (Mul b b)) (Add a b)) when (root a) (root b)
(Add a a) -> (Mul #2 a)
(Pow a #1) -> a
(Pow a #2) <-> (Mul a a)
(Pow a #0) -> #1
(Mul (Pow a b) (Pow a c)) <-> (Pow a (Add b c))
(Pow (Pow a b) c) -> (Pow a (Mul b c))
(Pow (Exp a) b) <-> (Exp (Mul a b))
(Mul (Sqrt a) (Sqrt a)) -> a
(Sqrt (Mul a a)) -> (Fabs a)
(Sqrt (Mul a b)) <-> (Mul (Sqrt a) (Sqrt b)) when (positive a) (positive b)
(Sqrt (Div a b)) -> (Div (Sqrt a) (Sqrt b)) when (positive a) (positive b)
(Sqrt (Add (Mul a a) (Mul b b))) <-> (Hypot a b)
(Mul (Cbrt a) (Mul (Cbrt a) (Cbrt a))) -> a
(Cbrt (Mul a b)) -> (Mul (Cbrt a) (Cbrt b))
(Fabs (Fabs a)) -> (Fabs a)
(Fabs (Neg a)) -> (Fabs a)
(Fabs a) -> a when (positive a)
(Exp (Log a)) -> a when (positive a)
(Log (Exp a)) -> a
(Exp (Add a b)) <-> (Mul (Exp a) (Exp b))
(Exp (Sub a b)) -> (Div (Exp a) (Exp b))
(Exp (Neg a)) -> (Div #1 (Exp a))
(Exp #0) -> #1
(Log #1) -> #0
(Log (Mul a b)) <-> (Add (Log a) (Log b)) when (positive a) (positive b)
(Log (Div a b)) <-> (Sub (Log a) (Log b)) when (positive a) (positive b)
(Log (Pow a b)) -> (Mul b (Log a)) when (positive a)
(Sub (Exp a) #1) <-> (Expm1 a)
(Log (Add #1 a)) <-> (Log1p a)
(Sub (Log a) (Log b)) -> (Log1p (Div (Sub a b) b)) when (positive a) (positive b)
(Sin (Neg a)) -> (Neg (Sin a))
(Cos (Neg a)) -> (Cos a)
(Add (Mul (Sin a) (Sin a)) (Mul (Cos a) (Cos a))) -> #1
(Sub #1 (Mul (Cos a) (Cos a))) <-> (Mul (Sin a) (Sin a))
(Div (Sin a) (Cos a)) <-> (Tan a)
(Sin (Add a b)) -> (Add (Mul (Sin a) (Cos b)) (Mul (Cos a) (Sin b)))
(Cos (Add a b)) -> (Sub (Mul (Cos a) (Cos b)) (Mul (Sin a) (Sin b)))
(Sub #1 (Cos a)) -> (Mul #2 (Mul (Sin (Div a #2)) (Sin (Div a #2))))
(Sub (Sin a) (Sin b)) -> (Mul #2 (Mul (Sin (Div (Sub a b) #2)) (Cos (Div (Add a b) #2))))
"""

EXPRESSIONS = """
(Sub (Sqrt (Add $x #1)) (Sqrt $x))
(Div (Sub (Neg $b) (Sqrt (Sub (Mul $b $b) (Mul #4 (Mul $a $c))))) (Mul #2 $a))
(Sub (Div #1 (Add $x #1)) (Div #1 $x))
(Div (Sub #1 (Cos $x)) (Mul $x $x))
(Sub (Exp $x) (Exp (Neg $x)))
(Sub (Log (Add $n #1)) (Log $n))
(Sub (Sin (Add $x $e)) (Sin $x))
(Add (Sub (Div #1 (Sub $x #1)) (Div #2 $x)) (Div #1 (Add $x #1)))
"""

ANALYSIS = """
(function value (Num) Rational :no-merge)
(relation not-zero (Num))
(relation positive (Num))
(relation root (Num))
(ruleset analysis)
(rule ((= e (Const c))) ((set (value e) c)) :ruleset analysis)
(rule ((= e (Add a b)) (= x (value a)) (= y (value b))) ((set (value e) (+ x y))) :ruleset analysis)
(rule ((= e (Sub a b)) (= x (value a)) (= y (value b))) ((set (value e) (- x y))) :ruleset analysis)
(rule ((= e (Mul a b)) (= x (value a)) (= y (value b))) ((set (value e) (* x y))) :ruleset analysis)
(rule ((= e (Div a b)) (= x (value a)) (= y (value b)) (!= y (rational 0 1))) ((set (value e) (/ x y)))
      :ruleset analysis)
(rule ((= e (Neg a)) (= x (value a))) ((set (value e) (neg x))) :ruleset analysis)
(rule ((= x (value e))) ((union e (Const x))) :ruleset analysis)
(rule ((= x (value e)) (!= x (rational 0 1))) ((not-zero e)) :ruleset analysis)
(rule ((= x (value e)) (> x (rational 0 1))) ((positive e)) :ruleset analysis)
(rule ((= e (Exp a))) ((positive e) (not-zero e)) :ruleset analysis)
(rule ((positive a) (positive b) (= e (Mul a b))) ((positive e)) :ruleset analysis)
(rule ((positive a) (positive b) (= e (Add a b))) ((positive e)) :ruleset analysis)
(rule ((= e (Sqrt a))) ((root e)) :ruleset analysis)
"""


def expand(text):
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    out = []
    for word in words:
        if word[0] == "#":
            out.append(f"(Const (rational {word[1:]} 1))")
        elif word[0] == "$":
            out.append(f'(Var "{word[1:]}")')
        else:
            out.append(word)
    return " ".join(out).replace("( ", "(").replace(" )", ")")


def rules():
    lines = []
    for line in IDENTITIES.strip().splitlines():
        line, _, condition = line.partition(" when ")
        both = " <-> " in line
        left, right = line.split(" <-> " if both else " -> ")
        when = f" :when ({condition})" if condition else ""
        for a, b in ((left, right), (right, left)) if both else ((left, right),):
            lines.append(f"(rewrite {expand(a)} {expand(b)}{when} :ruleset rules)")
    return lines


def text(iterations, match_limit):
    members = [f"  ({name} Num Num)" for name in BINARY] + [f"  ({name} Num)" for name in UNARY]
    return "\n".join([
        "(datatype Num", *members, "  (Const Rational)", "  (Var String))", ANALYSIS, "(ruleset rules)", *rules(),
        *[expand(line) for line in EXPRESSIONS.strip().splitlines()],
        "(run-schedule", f"  (let-scheduler bo (back-off :match-limit {match_limit} :ban-length 5))",
        f"  (repeat {iterations} (saturate analysis) (run-with bo rules)))", "(print-size)", "",
    ])
