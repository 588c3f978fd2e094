"""Vectors, sets, maps and multisets whose elements merge in rounds, so that containers are rebuilt again and again."""

from programs.datalog import NODES, pick

PROGRAM = """
(datatype Element (Numbered i64))
(sort Vector (Vec Element))
(sort Group (Set Element))
(sort Table (Map i64 Element))
(sort Bag (MultiSet Element))
(datatype Box (OfVector Vector) (OfGroup Group) (OfTable Table) (OfBag Bag))
(relation holds (i64 Box))
(relation size (Box i64))
(relation distance (i64))
(relation second (i64 Element))
(relation third (i64))
(ruleset merge)
(ruleset grow)
(ruleset look)
(rule ((node i)) ((let a (Numbered {a})) (let b (Numbered {b})) (let c (Numbered {c})) (let d (Numbered {d}))
  (holds i (OfVector (vec-of a b c d)))
  (holds i (OfGroup (set-of a b c d)))
  (holds i (OfTable (map-insert (map-insert (map-insert (map-empty) 0 a) 1 b) 2 c)))
  (holds i (OfBag (multiset-of a b b c d)))) :ruleset make)
(rule ((distance r) (= e (Numbered i)) (>= i r) (< i (* 2 r))) ((union e (Numbered (- i r)))) :ruleset merge)
(rule ((holds i (OfVector v)) (holds (+ i 1) (OfVector w)) (= 0 (% i 4)))
      ((holds i (OfVector (vec-append v w)))) :ruleset grow)
(rule ((holds i (OfGroup v)) (holds (+ i 1) (OfGroup w)) (= 0 (% i 4)))
      ((holds i (OfGroup (set-union v w)))) :ruleset grow)
(rule ((holds i (OfBag v)) (holds (+ i 1) (OfBag w)) (= 0 (% i 4)))
      ((holds i (OfBag (multiset-sum v w)))) :ruleset grow)
(rule ((= b (OfGroup v)) (= n (set-length v))) ((size b n)) :ruleset look)
(rule ((= b (OfVector v)) (= n (vec-length v))) ((size b n)) :ruleset look)
(rule ((holds i (OfTable t)) (map-contains t 1) (= e (map-get t 1))) ((second i e)) :ruleset look)
(rule ((holds i (OfGroup v)) (set-contains v (Numbered 3))) ((third i)) :ruleset look)
"""


def text(count):
    """`count` nodes, four containers each; elements are merged until 64 are left."""
    salted = {name: pick(count, salt) for name, salt in zip("abcd", (3, 31, 101, 211))}
    rounds, size = [], 1
    while size * 2 < count:
        size *= 2
    while size >= 64:
        rounds.append(f"(distance {size})\n(run-schedule (run merge) (run look))")
        size //= 2
    return (NODES.format(count=count) + PROGRAM.format(**salted)
            + "(run-schedule (saturate make) (run grow) (run look))\n" + "\n".join(rounds) + "\n(print-size)\n")
