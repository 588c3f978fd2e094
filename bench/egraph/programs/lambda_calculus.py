"""A lambda calculus with explicit substitution: `Let` is pushed inwards, sets of free variables say where it may pass a
binder and where it has nothing to do."""

RULES = """
(datatype Term (Num i64) (Truth bool) (Ref String) (Plus Term Term) (Same Term Term) (App Term Term) (Lam String Term)
               (Let String Term Term) (Fix String Term) (If Term Term Term))
(sort Names (Set String))
(function free (Term) Names :merge (set-intersect old new))
(relation constant (Term))
(ruleset analysis)
(rule ((= e (Num n))) ((set (free e) (set-empty)) (constant e)) :ruleset analysis)
(rule ((= e (Truth b))) ((set (free e) (set-empty)) (constant e)) :ruleset analysis)
(rule ((= e (Ref v))) ((set (free e) (set-insert (set-empty) v))) :ruleset analysis)
(rule ((= e (Plus a b)) (= x (free a)) (= y (free b))) ((set (free e) (set-union x y))) :ruleset analysis)
(rule ((= e (Same a b)) (= x (free a)) (= y (free b))) ((set (free e) (set-union x y))) :ruleset analysis)
(rule ((= e (App a b)) (= x (free a)) (= y (free b))) ((set (free e) (set-union x y))) :ruleset analysis)
(rule ((= e (Lam v body)) (= x (free body))) ((set (free e) (set-remove x v))) :ruleset analysis)
(rule ((= e (Fix v body)) (= x (free body))) ((set (free e) (set-remove x v))) :ruleset analysis)
(rule ((= e (Let v a body)) (= x (free a)) (= y (free body)))
      ((set (free e) (set-union x (set-remove y v)))) :ruleset analysis)
(rule ((= e (If c a b)) (= x (free c)) (= y (free a)) (= z (free b)))
      ((set (free e) (set-union x (set-union y z)))) :ruleset analysis)
(rule ((= e (Plus (Num a) (Num b)))) ((union e (Num (+ a b)))) :ruleset analysis)
(rule ((= e (Same a a)) (constant a)) ((union e (Truth true))) :ruleset analysis)
(rule ((= e (Same (Num a) (Num b))) (!= a b)) ((union e (Truth false))) :ruleset analysis)

(rewrite (If (Truth true) a b) a)
(rewrite (If (Truth false) a b) b)
(rewrite (Plus a b) (Plus b a))
(rewrite (Same a b) (Same b a))
(rewrite (Fix v e) (Let v (Fix v e) e))
(rewrite (App (Lam v body) e) (Let v e body))
(rewrite (Let v e (App a b)) (App (Let v e a) (Let v e b)))
(rewrite (Let v e (Plus a b)) (Plus (Let v e a) (Let v e b)))
(rewrite (Let v e (Same a b)) (Same (Let v e a) (Let v e b)))
(rewrite (Let v e (If c a b)) (If (Let v e c) (Let v e a) (Let v e b)))
(rewrite (Let v e c) c :when ((constant c)))
(rewrite (Let v e (Ref v)) e)
(rewrite (Let v e (Ref w)) (Ref w) :when ((!= v w)))
(rewrite (Let v e (Lam v body)) (Lam v body))
(rewrite (Let v e (Lam w body)) (Lam w (Let v e body)) :when ((!= v w) (= x (free e)) (set-not-contains x w)))
(rewrite (Let v e (Fix w body)) (Fix w (Let v e body)) :when ((!= v w) (= x (free e)) (set-not-contains x w)))
(rewrite (Let v e body) body :when ((= x (free body)) (set-not-contains x v)))
"""


def ref(text):
    return f'(Ref "{text}")'


def let(variable, value, body):
    return f'(Let "{variable}" {value} {body})'


def lam(variable, body):
    return f'(Lam "{variable}" {body})'


def app(f, *arguments):
    for argument in arguments:
        f = f"(App {f} {argument})"
    return f


def compose_chain(length):
    """add1 composed with itself `length` times."""
    compose = lam("f", lam("g", lam("x", app(ref("f"), app(ref("g"), ref("x"))))))
    body = ref("add1")
    for _ in range(length - 1):
        body = app(ref("compose"), ref("add1"), body)
    return let("compose", compose, let("add1", lam("y", f"(Plus {ref('y')} (Num 1))"), body))


def fibonacci(n):
    def call(less):
        return app(ref("fib"), f"(Plus {ref('n')} (Num {-less}))")
    base = f"(If (Same {ref('n')} (Num 0)) (Num 0) (If (Same {ref('n')} (Num 1)) (Num 1) (Plus {call(1)} {call(2)})))"
    return let("fib", f'(Fix "fib" {lam("n", base)})', app(ref("fib"), f"(Num {n})"))


def text(iterations, length, n):
    return (RULES + f"(let $chain {compose_chain(length)})\n(let $fibonacci {fibonacci(n)})\n"
            f"(run-schedule (repeat {iterations} (saturate analysis) (run)))\n(print-size)\n")
