"""The rules of a tensor compiler: facts that are saturated first, expression folding, and hundreds of lowering rules
made from templates over ops, dtypes, ranks and layouts. Most of them match nothing in any one model."""

from programs.tensor_ops import (BINARY, DTYPES, ITER, LOG2_E, REDUCE, UNARY, ZERO, PatternWriter, Tensor,
                                 causal_mask, centred, contiguous, elist, gelu_polynomial, ilist, joined, matmul,
                                 mixed_values, normalised, relu, rms_scale, scaled_by, scores, shifted_exp, sigmoid,
                                 silu, turned_left, turned_right)

FLOATS = ("F32", "F16", "Bf16")
STAGES = ("facts", "expr", "structure", "kernel", "backend", "epilogue", "pair", "mark", "fuse", "late")


# Relations that hold a matched part, so that rules for the whole need not match it again: result, then operands.
MARKS = {"exp-of": 2, "softmax-of": 2, "left-of": 5, "right-of": 5, "scores-of": 3, "values-of": 3, "causal": 2,
         "rms-of": 2, "centred-of": 2, "negated": 2, "inverse-exp-of": 2, "sigmoid-of": 2, "polynomial-of": 2,
         "gelu-of": 2}


def declarations():
    kinds = [f"    ({kind} EList EList EList)" for kind in UNARY]
    kinds += [f"    ({kind} EList EList EList EList)" for kind in BINARY + ("Gather", "Scatter")]
    kinds += [f"    ({kind} EList Expr EList Expr EList)" for kind in REDUCE]
    kinds += ["    (Constant f64)", "    (Iota Expr Expr)", "    (Cast Expr DType)"]
    kinds += ["    (Kernel String EList EList EList EList DType)", "    (KernelReduce String EList Expr EList DType)",
              "    (Fused String OpKind OpKind DType)", "    (Block String EList DType)",
              "    (Matmul EList Expr EList EList EList)",
              "    (Gemm Expr Expr Expr String Expr Expr EList DType String)"]
    return "\n".join([
        "(datatype*",
        "  (Expr (MNum i64) (MVar String) (MIter) (MAdd Expr Expr) (MMul Expr Expr))",
        "  (EList (ENil) (ECons Expr EList))",
        "  (DType " + " ".join(f"({name})" for name in DTYPES) + ")",
        "  (IR (Op OpKind IList) (Input i64 String DType))",
        "  (IList (INil) (ICons IR IList))",
        "  (OpKind", *kinds, "  ))",
        *[f"(ruleset {stage})" for stage in STAGES],
        "(function dtype (IR) DType :merge new)",
        "(function shape (IR) EList :merge new)",
        "(function rank (EList) i64 :merge new)",
        "(function nth-from-end (EList i64) Expr :merge new)",
        "(function elements (EList) Expr :merge new)",
        "(relation zeros (EList))",
        "(relation dense (EList EList))",
        "(relation constant-of (IR f64))",
        "(relation weight (IR))",
        *[f"(relation {name} ({' '.join(['IR'] * arity)}))" for name, arity in MARKS.items()],
        "",
    ])


EXPRESSIONS = """
(rewrite (MMul (MNum a) (MNum b)) (MNum (* a b)) :ruleset expr)
(rewrite (MAdd (MNum a) (MNum b)) (MNum (+ a b)) :ruleset expr)
(rewrite (MMul a (MNum 1)) a :ruleset expr)
(rewrite (MMul (MNum 1) a) a :ruleset expr)
(rewrite (MAdd a (MNum 0)) a :ruleset expr)
(rewrite (MMul (MNum 0) a) (MNum 0) :ruleset expr)
(rewrite (MMul a (MNum 0)) (MNum 0) :ruleset expr)
(rewrite (MMul (MMul a (MNum b)) (MNum c)) (MMul a (MNum (* b c))) :ruleset expr)
(rewrite (MMul (MNum a) (MVar v)) (MMul (MVar v) (MNum a)) :ruleset expr)
"""

LIST_FACTS = """
(rule ((= e (ENil))) ((set (rank e) 0) (set (elements e) (MNum 1)) (zeros e) (dense e e)) :ruleset facts)
(rule ((= e (ECons d rest)) (= n (rank rest))) ((set (rank e) (+ n 1)) (set (nth-from-end e n) d)) :ruleset facts)
(rule ((= e (ECons d rest)) (= x (nth-from-end rest n))) ((set (nth-from-end e n) x)) :ruleset facts)
(rule ((= e (ECons d rest)) (= n (elements rest))) ((set (elements e) (MMul d n))) :ruleset facts)
(rule ((= e (ECons (MNum 0) rest)) (zeros rest)) ((zeros e)) :ruleset facts)
(rule ((= e (Input id label dt))) ((set (dtype e) dt) (weight e)) :ruleset facts)
(rule ((= e (Op (Constant v) (INil)))) ((set (dtype e) (F32)) (set (shape e) (ENil)) (constant-of e v)) :ruleset facts)
(rule ((= e (Op (Iota x n) (INil)))) ((set (dtype e) (I32)) (set (shape e) (ECons n (ENil)))) :ruleset facts)
(rule ((= e (Op (Cast n dt) (ICons x (INil))))) ((set (dtype e) dt)) :ruleset facts)
(rule ((= e (Op (Cast n dt) (ICons x (INil)))) (= s (shape x))) ((set (shape e) s)) :ruleset facts)
(rule ((= e (Op (Gather s st ds dst) (ICons i (ICons x (INil))))) (= dt (dtype x)))
      ((set (dtype e) dt) (set (shape e) s)) :ruleset facts)
(rule ((= e (Op (Scatter s st ss sst) (ICons x (ICons i (ICons y (INil)))))) (= dt (dtype x)))
      ((set (dtype e) dt) (set (shape e) s)) :ruleset facts)
"""


def op_facts():
    rules = []
    for kind in UNARY:
        rules.append(f"(rule ((= e (Op ({kind} s a o) (ICons x (INil)))) (= dt (dtype x)))\n"
                     "      ((set (dtype e) dt) (set (shape e) s)) :ruleset facts)")
    for kind in BINARY:
        result = "(Bool)" if kind == "LessThan" else "dt"
        rules.append(f"(rule ((= e (Op ({kind} s a b o) (ICons x (ICons y (INil))))) (= dt (dtype x)))\n"
                     f"      ((set (dtype e) {result}) (set (shape e) s)) :ruleset facts)")
    for kind in REDUCE:
        rules.append(f"(rule ((= e (Op ({kind} s n a i o) (ICons x (INil)))) (= dt (dtype x)))\n"
                     "      ((set (dtype e) dt) (set (shape e) s)) :ruleset facts)")
    return rules


def rule(facts, root, kind, inputs, dtype, stage, name):
    """`facts` hold => the node `root` is also (Op kind inputs)."""
    body = "\n   ".join(facts)
    return (f"(rule\n  ({body})\n  ((let ?new (Op {kind} {ilist(inputs)}))\n   (union {root} ?new)\n"
            f"   (set (dtype ?new) {dtype}))\n  :ruleset {stage} :name \"{name}\")")


def elementwise_kernels():
    """One kernel for each op, rank, dtype and way the second operand is read."""
    rules = []
    for rank in (1, 2, 3):
        dims = [f"?d{i}" for i in range(rank)]
        dense = contiguous(dims)
        ways = {"dense": dense, "scalar": [ZERO] * rank, "row": [ZERO] * (rank - 1) + [ITER]}
        if rank > 1:
            ways["column"] = contiguous(dims[:-1]) + [ZERO]
        for kind in ("Add", "Mul"):
            for way, strides in ways.items():
                for dtype in FLOATS:
                    fields = f"{elist(dims)} {elist(dense)} {elist(strides)} ?out"
                    facts = [f"(= ?e (Op ({kind} {fields}) (ICons ?x (ICons ?y (INil)))))", f"(= ({dtype}) (dtype ?x))",
                             f"(= ({dtype}) (dtype ?y))"]
                    name = f"{kind} {way} {rank} {dtype}"
                    new = f'(Kernel "{kind} {way}" {fields} ({dtype}))'
                    rules.append(rule(facts, "?e", new, ["?x", "?y"], f"({dtype})", "kernel", name))
    for kind in UNARY:
        for dtype in FLOATS:
            facts = [f"(= ?e (Op ({kind} ?s ?a ?out) (ICons ?x (INil))))", f"(= ({dtype}) (dtype ?x))"]
            new = f'(Kernel "{kind}" ?s ?a ?a ?out ({dtype}))'
            rules.append(rule(facts, "?e", new, ["?x"], f"({dtype})", "kernel", f"{kind} {dtype}"))
    for kind in REDUCE:
        for dtype in FLOATS:
            facts = [f"(= ?e (Op ({kind} ?s ?n ?a {ITER} ?out) (ICons ?x (INil))))", f"(= ({dtype}) (dtype ?x))"]
            new = f'(KernelReduce "{kind}" ?s ?n ?a ({dtype}))'
            rules.append(rule(facts, "?e", new, ["?x"], f"({dtype})", "kernel", f"{kind} {dtype}"))
    return rules


def matmul_structure():
    facts = ["(= ?product (Op (Mul ?all ?as ?bs ?ps) (ICons ?a (ICons ?b (INil)))))",
             f"(= ?sum (Op (Sum ?s ?k ?in {ITER} ?out) (ICons ?product (INil))))",
             "(= ?n (rank ?s))", "(= (+ ?n 1) (rank ?all))", "(= ?dt (dtype ?a))"]
    return [rule(facts, "?sum", "(Matmul ?s ?k ?as ?bs ?out)", ["?a", "?b"], "?dt", "structure", "matmul")]


BATCH = {2: (), 3: ("b0",), 4: ("b0", "b1")}
LAYOUTS = ("RR", "RC", "CR", "CC")


def matmul_pattern(rank, layout, dtypes, casts=("", "")):
    w = PatternWriter(exact=("shape", "strides", "iters"))
    batch = w.dims(*BATCH[rank])
    tensors = []
    for label, dims, dtype, cast in (("a", w.dims("m", "k"), dtypes[0], casts[0]),
                                     ("b", w.dims("k", "n"), dtypes[1], casts[1])):
        x = w.input(label, batch + dims, cast or dtype)
        tensors.append(w.cast(x, dtype) if cast else x)
    return w, tensors, matmul(w, *tensors, layout)


def gemm(layout, batch, dtype, epilogue):
    return f'(Gemm ?m ?n ?k "{layout}" ?n ?k {elist(batch)} ({dtype}) "{epilogue}")'


def gemm_rules():
    """From Matmul, with every stride spelt out; and straight from Mul and Sum where operands are cast."""
    rules = []
    for rank, names in BATCH.items():
        for layout in LAYOUTS:
            for dtype in ("F32", "Tf32", "F16", "Bf16", "F8"):
                w, (a, b), _ = matmul_pattern(rank, layout, (dtype, dtype))
                mul_fact = w.facts[-2]
                a_strides, b_strides = split_terms(mul_fact[mul_fact.index("(Mul ") + 5:])[1:3]
                batch = w.dims(*names)
                dims = batch + w.dims("m", "n")
                facts = [f"(= ?e (Op (Matmul {elist(dims)} ?k {a_strides} {b_strides} ?out) {ilist(['?a', '?b'])}))",
                         f"(= ({dtype}) (dtype ?a))", f"(= ({dtype}) (dtype ?b))", "(!= ?k (MNum 1))",
                         "(!= ?n (MNum 0))", f"(= {rank} (rank ?shape))", "(= ?shape (shape ?e))"]
                rules.append(rule(facts, "?e", gemm(layout, batch, dtype, "none"), ["?a", "?b"], f"({dtype})",
                                  "backend", f"gemm {rank} {layout} {dtype}"))
    for rank in (2, 3):
        for layout in LAYOUTS:
            for casts in (("F8", ""), ("", "F8"), ("F8", "F8")):
                w, _, out = matmul_pattern(rank, layout, ("Bf16", "Bf16"), casts)
                rules.append(rule(w.facts, out.name, gemm(layout, w.dims(*BATCH[rank]), "Bf16", "mixed"), w.inputs,
                                  "(Bf16)", "backend", f"gemm {rank} {layout} of {' '.join(casts)}"))
    return rules


def split_terms(text):
    """The top-level terms at the start of `text`."""
    terms, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth < 0:
                break
        elif c == " " and depth == 0:
            terms.append(text[start:i])
            start = i + 1
    return terms


def gelu(w, x):
    out = w.tensor(w.fresh("t"), x.dims)
    w.facts.append(f"(gelu-of {out.name} {x.name})")
    return out


EPILOGUES = {"relu": relu, "gelu": gelu, "silu": silu}


def epilogue_rules():
    """An activation, a bias, both, or a residual after a matrix product."""
    rules = []
    for rank in (2, 3):
        for dtype in FLOATS:
            for bias in (False, True):
                for activation in (*EPILOGUES, None, "residual"):
                    if not bias and activation is None:
                        continue
                    w = PatternWriter(exact=("shape",))
                    batch = w.dims(*BATCH[rank])
                    dims = batch + w.dims("m", "n")
                    w.facts.append(f"(= ?e (Op {gemm('RC', batch, dtype, 'none')} (ICons ?a (ICons ?b (INil)))))")
                    x = w.tensor("?e", dims)
                    inputs = ["?a", "?b"]
                    if bias:
                        b = w.input("bias", w.dims("n"), dtype)
                        x = w.binary("Add", x, b.broadcast(dims, [rank - 1]))
                        inputs.append(b.name)
                    if activation == "residual":
                        x = w.binary("Add", w.input("res", dims, dtype), x)
                        inputs.append("?res")
                    elif activation:
                        x = EPILOGUES[activation](w, x)
                    label = f"{'bias ' if bias else ''}{activation or ''}"
                    rules.append(rule(w.facts, x.name, gemm("RC", batch, dtype, label), inputs, f"({dtype})",
                                      "epilogue", f"gemm {rank} {dtype} {label}"))
    return rules


def block(w, out, label, dtype, stage, name):
    facts = [*w.facts, f"(= ?shape (shape {out.name}))"]
    return rule(facts, out.name, f'(Block "{label}" ?shape ({dtype}))', w.inputs, f"({dtype})", stage, name)


def marker(w, relation, out, operands, name):
    body = "\n   ".join(w.facts)
    names = " ".join(x.name for x in (out, *operands))
    return f'(rule\n  ({body})\n  (({relation} {names}))\n  :ruleset mark :name "{name}")'


def marker_rules():
    """Parts of softmax, rotary embedding and attention."""
    rules = []
    for rank in (2, 3, 4):
        for base in (LOG2_E, 1.0):
            w = PatternWriter(("shape",), REDUCE)
            x = w.input("x", w.dims(*[f"d{i}" for i in range(rank)]), "")
            rules.append(marker(w, "exp-of", shifted_exp(w, x, base), [x], f"exp {rank} {base}"))
        w = PatternWriter(("shape",), REDUCE)
        x, e = (w.input(label, w.dims(*[f"d{i}" for i in range(rank)]), "") for label in "xe")
        w.facts.append("(exp-of ?e ?x)")
        rules.append(marker(w, "softmax-of", normalised(w, e), [x], f"softmax {rank}"))
    for dtype in FLOATS:
        for relation, turned in (("left-of", turned_left), ("right-of", turned_right)):
            w = PatternWriter()
            operands = [w.input(label, w.dims("h", "s", "half"), dtype if label == "x1" else "")
                        for label in ("x1", "x2", "cos", "sin")]
            if relation == "right-of":
                w.facts.append("(left-of ?left ?x1 ?x2 ?cos ?sin)")
            rules.append(marker(w, relation, turned(w, *operands), operands, f"{relation} {dtype}"))
        for grouped in (False, True):
            for relation, part in (("scores-of", scores), ("values-of", mixed_values)):
                w = PatternWriter(("shape",), REDUCE)
                dims = w.dims("h", "s", "c", "d")
                operands = [w.input("q", dims[:2] + dims[3:], dtype), w.input("rows", w.dims("c", "kv"), "")]
                out = part(w, *operands, dims, grouped)
                rules.append(marker(w, relation, out, operands, f"{relation} {dtype}{' grouped' if grouped else ''}"))
    w = PatternWriter(("shape",))
    s, c = w.dims("s", "c")
    position = w.input("position", [s], "I32")
    rules.append(marker(w, "causal", causal_mask(w, position, w.iota(ITER, c), [s, c]), [position], "causal mask"))
    return rules + norm_markers() + gelu_markers()


def norm_markers():
    rules = []
    for rank in (2, 3):
        for size in (2048, 3072, 4096, 8192):
            for relation, part in (("rms-of", rms_scale), ("centred-of", centred)):
                w = PatternWriter(("shape", "iters"), REDUCE)
                x = w.input("x", w.dims(*[f"d{i}" for i in range(rank)]), "")
                rules.append(marker(w, relation, part(w, x, size), [x], f"{relation} {rank} {size}"))
    return rules


def gelu_markers():
    """One constant at a time: the rows of two constants have nothing in common for a join to start from."""
    def chain(relation, before, part):
        w = PatternWriter()
        x, y = (w.input(label, w.dims("m", "n"), "") for label in "xy")
        if before:
            w.facts.append(f"({before} ?y ?x)")
        return marker(w, relation, part(w, y if before else x), [x], relation)

    rules = [
        chain("negated", "", lambda w, x: w.scale("Mul", x, -1.0)),
        chain("inverse-exp-of", "negated", lambda w, x: w.unary("Exp2", w.scale("Mul", x, LOG2_E))),
        chain("sigmoid-of", "inverse-exp-of", lambda w, x: w.unary("Recip", w.scale("Add", x, 1.0))),
        chain("polynomial-of", "", gelu_polynomial),
    ]
    w = PatternWriter()
    x, polynomial, gate = (w.input(label, w.dims("m", "n"), "") for label in ("x", "polynomial", "gate"))
    inner = w.binary("Mul", w.scale("Mul", x, 1.595769), polynomial)
    w.facts += ["(polynomial-of ?polynomial ?x)", f"(sigmoid-of ?gate {inner.name})"]
    rules.append(marker(w, "gelu-of", w.binary("Mul", x, gate), [x], "gelu-of"))
    return rules


def softmax_rules():
    rules = []
    for rank in (2, 3, 4):
        for dtype in FLOATS:
            for before in ("", "masked", "scaled", "capped"):
                w = PatternWriter(("shape",), ("Add", "Mul"))
                dims = w.dims(*[f"d{i}" for i in range(rank)])
                x = w.input("x", dims, dtype)
                if "scaled" in before:
                    x = w.scale("Mul", x, 0.088388)
                if before == "capped":
                    x = w.scale("Mul", sigmoid(w, w.scale("Mul", x, 0.02)), 50.0)
                if "masked" in before:
                    x = w.binary("Add", x, w.input("mask", dims, dtype))
                w.facts.append(f"(softmax-of ?out {x.name})")
                rules.append(block(w, Tensor("?out", (), ()), f"softmax {before}", dtype, "fuse",
                                   f"softmax {rank} {dtype} {before}"))
    return rules


def norm_rules():
    rules = []
    for rank in (2, 3):
        for dtype in FLOATS:
            for form in ("rms", "rms bias", "layer", "layer bias"):
                for residual in (False, True):
                    w = PatternWriter(("shape",))
                    dims = w.dims(*[f"d{i}" for i in range(rank)])
                    x, weight = w.input("x", dims, dtype), w.input("w", dims[-1:], "")
                    bias = w.input("b", dims[-1:], "") if "bias" in form else None
                    source = w.binary("Add", x, w.input("res", dims, "")) if residual else x
                    if "layer" in form:
                        w.facts.append(f"(centred-of ?centred {source.name})")
                        source = w.tensor("?centred", dims)
                    w.facts.append(f"(rms-of ?scale {source.name})")
                    out = scaled_by(w, source, w.tensor("?scale", dims[:-1]), weight, bias)
                    rules.append(block(w, out, form, dtype, "fuse",
                                       f"{form} norm {rank} {dtype}{' residual' if residual else ''}"))
    return rules


def gated_rules():
    """Gated MLPs: activation of one product times another product of the same input."""
    rules = []
    for activation in ("silu", "gelu", "relu"):
        for dtype in FLOATS:
            for swapped in (False, True):
                w = PatternWriter(("shape",), REDUCE)
                m, n, k = w.dims("m", "n", "k")
                x, gate, up = (w.input(label, dims, dtype) for label, dims in
                               (("x", [m, k]), ("gate", [k, n]), ("up", [k, n])))
                left = EPILOGUES[activation](w, matmul(w, x, gate, "RC"))
                right = matmul(w, x, up, "RC")
                out = w.binary("Mul", right, left) if swapped else w.binary("Mul", left, right)
                rules.append(block(w, out, f"gated {activation}", dtype, "fuse",
                                   f"gated {activation} {dtype}{' swapped' if swapped else ''}"))
    return rules


def rope_rules():
    rules = []
    for dtype in FLOATS:
        for casts in (False, True):
            for swapped in (False, True):
                w = PatternWriter(("shape",))
                h, s, d, half = w.dims("h", "s", "d", "half")
                x = w.input("x", [h, s, d], "Bf16" if casts else dtype)
                source = w.cast(x, dtype) if casts else x
                first, second = w.input("first", [half], ""), w.input("second", [half], "")
                parts = [w.gather(index, source, [h, s, half]).name for index in (first, second)]
                turned = [Tensor(f"?{side}", (h, s, half), (ITER,) * 3) for side in ("left", "right")]
                angles = [Tensor(f"?{name}", (h, s, half), (ITER,) * 3) for name in ("cos", "sin")]
                for relation, side in (("left-of", "?left"), ("right-of", "?right")):
                    w.facts.append(f"({relation} {side} {' '.join(parts)} ?cos ?sin)")
                turned = turned[::-1] if swapped else turned
                out = joined(w, *turned, *angles, first, second, [h, s, d])
                w.inputs += ["?cos", "?sin"]
                rules.append(block(w, out, "rope", dtype, "late",
                                   f"rope {dtype}{' swapped' if swapped else ''}{' cast' if casts else ''}"))
    return rules


def attention_rules():
    """Whole attention blocks in the ways models spell them, from marked parts."""
    rules = []
    for dtype in FLOATS:
        for mask in ("none", "given", "causal", "window"):
            for scaled in (False, True):
                for casts in (False, True):
                    w = PatternWriter(("shape",))
                    h, s, c, d = w.dims("h", "s", "c", "d")
                    q = w.input("q", [h, s, d], "Bf16" if casts else dtype)
                    k, v = (w.input(label, [c, d], "") for label in "kv")
                    if casts:
                        q, k, v = (w.cast(x, dtype) for x in (q, k, v))
                    w.facts.append(f"(scores-of ?scores {q.name} {k.name})")
                    x = w.tensor("?scores", [h, s, c])
                    x = w.scale("Mul", x, 0.088388) if scaled else x
                    if mask != "none":
                        given = w.input("mask", [s, c], dtype if mask == "given" else "")
                        if mask == "window":
                            given = w.binary("Add", given, w.input("window", [s, c], dtype))
                        if mask != "given":
                            w.facts.append("(causal ?mask ?position)")
                        x = w.binary("Add", x, given.broadcast(x.dims, [1, 2]))
                    w.facts += [f"(softmax-of ?p {x.name})", f"(values-of ?out ?p {v.name})"]
                    name = f"attention {dtype} {mask}{' scaled' if scaled else ''}{' cast' if casts else ''}"
                    rules.append(block(w, Tensor("?out", (), ()), "attention", dtype, "late", name))
    return rules


def pair_rules():
    """Two kernels in a row as one."""
    rules = []
    for outer in UNARY:
        for inner in UNARY + ("Add scalar", "Mul scalar"):
            if outer == inner:
                continue
            dtype = "F32" if len(rules) % 2 else "Bf16"
            tail = "(ICons ?y (INil))" if " " in inner else "(INil)"
            facts = [f'(= ?f (Kernel "{inner}" ?s1 ?a1 ?b1 ?o1 ({dtype})))', f"(= ?x (Op ?f (ICons ?in {tail})))",
                     f'(= ?g (Kernel "{outer}" ?s2 ?a2 ?b2 ?o2 ({dtype})))', f"(= ?e (Op ?g (ICons ?x (INil))))"]
            inputs = ["?in"] + (["?y"] if " " in inner else [])
            rules.append(rule(facts, "?e", f'(Fused "pair" ?g ?f ({dtype}))', inputs, f"({dtype})", "pair",
                              f"{outer} after {inner}"))
    return rules


FOUNDATION = (op_facts, matmul_structure, marker_rules)
LOWERING = (elementwise_kernels, gemm_rules, epilogue_rules, softmax_rules, norm_rules, gated_rules, rope_rules,
            attention_rules, pair_rules)


def foundation():
    """Declarations, expressions, facts and marks."""
    return [declarations(), EXPRESSIONS, LIST_FACTS, *(text for template in FOUNDATION for text in template())]


def lowering():
    return [text for template in LOWERING for text in template()]
