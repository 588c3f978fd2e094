"""A stack of transformer layers as a graph of primitive ops: most are rms-norm, rotary, grouped attention with a
cache, gated MLP; every fourth is layer-norm, plain attention, gelu MLP. A layer is written once, as a rule that builds
layer i on what layer i-1 left, so the text does not grow with the number of layers."""

from programs.tensor_ops import (GraphWriter, attention, causal_mask, gelu, layer_norm, matmul, mul, num, rms_norm,
                                 rope, silu, softmax, var)

S, C = var("s"), var("c")
HIDDEN, HEADS, HEAD, KV, INNER, SLOTS, VOCABULARY = (num(n) for n in (2048, 16, 128, 512, 5632, 4096, 32000))
HALF = num(64)
HEAD_ROWS = mul(HEADS, HEAD)  # folds to HIDDEN


class Model:
    def __init__(self):
        self.w = w = GraphWriter("$t", str)
        position = w.input("position", [S], "I32")
        self.cache_index = w.input("cache_index", [mul(C, KV)], "I32")
        self.new_index = w.input("new_index", [mul(S, KV)], "I32")
        self.mask = causal_mask(w, position, w.iota("(MIter)", C), [S, C])
        frequency = w.input("frequency", [HALF], "F32")
        angle = w.binary("Mul", w.cast(position, "F32").broadcast([S, HALF], [0]), frequency.broadcast([S, HALF], [1]))
        self.sine, self.cosine = w.unary("Sin", angle), w.unary("Sin", w.scale("Add", angle, 1.570796))
        self.half_index = w.iota("(MIter)", HALF)
        self.other_index = w.iota("(MAdd (MIter) (MNum 64))", HALF)
        w.let('(Input 999 "x" (Bf16))')

    def linear(self, x, label, k, n):
        return matmul(self.w, x.view([S, k], x.strides), self.w.input(label, [k, n], "Bf16"), "RC")

    def rotated(self, x, heads):
        x = self.w.cast(x.view([heads, S, HEAD], ["(MIter)"] * 3), "F32")
        turned = rope(self.w, x, self.cosine, self.sine, self.half_index, self.other_index, HALF)
        return self.w.cast(turned, "Bf16")

    def cached(self, label, rows):
        cache = self.w.input(label, [SLOTS, KV], "Bf16")
        return self.w.gather(self.cache_index, self.w.scatter(cache, self.new_index, rows), [C, KV])

    def attend(self, q, k, v, grouped):
        w = self.w
        q, k, v = w.cast(q, "F32"), w.cast(k, "F32"), w.cast(v, "F32")
        out = attention(w, q, k, v, self.mask, (HEADS, S, C, HEAD), grouped)
        return w.cast(out, "Bf16")

    def rms(self, x, label):
        w = self.w
        return w.cast(rms_norm(w, w.cast(x, "F32"), w.input(label, [HIDDEN], "F32"), 2048), "Bf16")

    def llama_layer(self, x):
        w = self.w
        h = self.rms(x, "norm")
        q, k, v = (self.linear(h, name, HIDDEN, width) for name, width in (("q", HEAD_ROWS), ("k", KV), ("v", KV)))
        q = self.rotated(q, HEADS)
        k = self.rotated(k, num(4))
        out = self.attend(q, self.cached("k_cache", k), self.cached("v_cache", v), True)
        x = w.binary("Add", x, self.linear(out, "o", HEAD_ROWS, HIDDEN))
        h = self.rms(x, "norm2")
        gated = w.binary("Mul", silu(w, self.linear(h, "gate", HIDDEN, INNER)), self.linear(h, "up", HIDDEN, INNER))
        return w.binary("Add", x, self.linear(gated, "down", INNER, HIDDEN))

    def norm(self, x, label):
        w = self.w
        weight, bias = w.input(label, [HIDDEN], "F32"), w.input(label + "_bias", [HIDDEN], "F32")
        return w.cast(layer_norm(w, w.cast(x, "F32"), weight, bias, 2048), "Bf16")

    def biased(self, x, label, k, n):
        bias = self.w.input(label + "_bias", [n], "Bf16")
        return self.w.binary("Add", self.linear(x, label, k, n), bias.broadcast([S, n], [1]))

    def gpt_layer(self, x):
        w = self.w
        h = self.norm(x, "norm")
        q, k, v = (self.biased(h, name, HIDDEN, HIDDEN) for name in "qkv")
        q = q.view([HEADS, S, HEAD], ["(MIter)"] * 3)
        out = self.attend(q, self.cached("k_cache", k), self.cached("v_cache", v), False)
        x = w.binary("Add", x, self.biased(out, "o", HEAD_ROWS, HIDDEN))
        h = self.norm(x, "norm2")
        return w.binary("Add", x, self.biased(gelu(w, self.biased(h, "up", HIDDEN, INNER)), "down", INNER, HIDDEN))

    def head(self, x):
        return softmax(self.w, self.w.cast(self.linear(self.rms(x, "norm"), "head", HIDDEN, VOCABULARY), "F32"))

    def rule(self, relation, build):
        self.w = GraphWriter("n", lambda n: f"(+ (* 1000 (+ 1 i)) {n})")
        out = build(self.w.tensor("x", [S, HIDDEN]))
        lines = "\n   ".join([*self.w.lines, f"(set (hidden (+ i 1)) {out.name})"])
        return f"(relation {relation} (i64))\n(rule (({relation} i) (= x (hidden i)))\n  ({lines})\n  :ruleset build)"

    def build(self, layers):
        lines = ["(ruleset build)", "(function hidden (i64) IR :no-merge)", *self.w.lines,
                 f"(set (hidden 0) {self.w.lines[-1].split()[1]})",
                 self.rule("llama", self.llama_layer), self.rule("gpt", self.gpt_layer), self.rule("head", self.head)]
        lines += [f"({'gpt' if layer % 4 == 3 else 'llama'} {layer})" for layer in range(layers)]
        return [*lines, f"(head {layers})", "(run-schedule (saturate (run build)))"]
