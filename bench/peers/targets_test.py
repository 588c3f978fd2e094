#!/usr/bin/env python3
"""Tests of targets.py: every target can be missed, and is not where it does not apply."""
import unittest

import targets


def result(lumen=1e-3, eager=2e-3, limit=None, **fields):
    made = {"name": "softmax/8x8/f32", "group": "softmax", "size": "8x8", "dtype": "f32", "unit": "vector",
            "fused": True, "flops": 1e3, "bytes": 1e3, "agrees": True, "error": 0.0, "problems": {},
            "seconds": {"lumen": lumen, "eager": eager, "compile": 10 * eager}}
    if limit is not None:
        made["seconds"]["limit"] = limit
    made.update(fields)
    made.setdefault("trials", {who: [seconds] * 3 for who, seconds in made["seconds"].items()})
    return made


def matmul(dtype, lumen, eager, limit=None, size=512):
    return result(lumen, eager, limit, name=f"matmul/{size}/{dtype}", group="matmul", size=f"{size}x{size}x{size}", dtype=dtype,
                  unit="matrix", fused=False, flops=2 * size**3)


def missed(*results):
    return targets.misses({"threads": 1, "results": list(results)})


class Targets(unittest.TestCase):
    def test_nothing_missed(self):
        self.assertEqual(missed(result()), [])

    def test_best_peer_counts(self):
        self.assertEqual(targets.best_peer(result()), ("eager", 2e-3))
        self.assertEqual(missed(result(1e-3, 0.94e-3, fused=False)),
                         ["1 thread: softmax/8x8/f32: 0.94 of eager, wanted 0.95"])
        self.assertEqual(missed(result(1e-3, 0.96e-3, fused=False)), [])

    def test_ratios_are_within_rounds(self):
        trials = {"lumen": [1, 1, 3, 3, 1], "eager": [0.9, 2.7, 2.7, 2.7, 0.9], "compile": [9] * 5}
        self.assertAlmostEqual(targets.ratio(result(1, 2.7, trials=trials)), 0.9)

    def test_mean_of_the_fused(self):
        self.assertEqual(missed(result(1e-3, 1.2e-3), result(1e-3, 1e-3, fused=False)),
                         ["1 thread: fused patterns: geometric mean 1.20, wanted 1.3"])
        self.assertEqual(missed(result(1e-3, 1.2e-3), result(1e-3, 2e-3)), [])

    def test_wrong_results_and_failures(self):
        self.assertEqual(missed(result(agrees=False, error=0.5)),
                         ["1 thread: softmax/8x8/f32: the outputs are off by 0.5 of the largest value"])
        self.assertEqual(missed(result(seconds={"eager": 1}, problems={"lumen": "no\nmore"})),
                         ["1 thread: softmax/8x8/f32: lumen failed: no"])
        self.assertEqual(missed(result(seconds={"lumen": 1}, fused=False)),
                         ["1 thread: softmax/8x8/f32: no peer to compare with"])

    def test_narrow_matmul(self):
        self.assertEqual(missed(matmul("bf16", 2, 2.3, limit=1)), [])
        self.assertEqual(missed(matmul("bf16", 2, 2, limit=1)), ["1 thread: matmul/512/bf16: 1.00 of eager, wanted 1.1"])
        self.assertEqual(missed(matmul("bf16", 3, 6, limit=1)),
                         ["1 thread: matmul/512/bf16: 33% of the tile rate, wanted 40%"])
        self.assertEqual(missed(matmul("i8", 4, 8, limit=1)),
                         ["1 thread: matmul/512/i8: 25% of the tile rate, wanted 40%"])
        self.assertEqual(missed(matmul("bf16", 3, 6, limit=0)), [])  # no tiles
        self.assertEqual(missed(matmul("bf16", 1, 1, limit=0.1, size=128), matmul("f32", 1, 1)), [])

    def test_the_limit_is_no_peer(self):
        self.assertEqual(targets.best_peer(result(limit=1e-9)), ("eager", 2e-3))

    def test_large_ones_beside_copies(self):
        self.assertEqual(missed(result(1, 2, limit=0.9, bytes=100e6)), [])
        self.assertEqual(missed(result(1, 2, limit=0.8, bytes=100e6)),
                         ["1 thread: softmax/8x8/f32: 80% of the copy rate, wanted 85%"])
        self.assertEqual(missed(result(1, 2, limit=0.1, bytes=1e6)), [])
        self.assertEqual(missed(result(1, 2, limit=0.1, bytes=1e6, group="gemv", fused=False)),
                         ["1 thread: softmax/8x8/f32: 10% of the copy rate, wanted 85%"])
        self.assertEqual([targets.has_limit(c) for c in (result(bytes=100e6), result(), matmul("i8", 1, 1),
                                                         matmul("f32", 1, 1), matmul("i8", 1, 1, size=128))],
                         [True, False, True, False, False])

    def test_table(self):
        text = targets.table({"threads": 1, "results": [result(), result(3e-3, 1.5e-3)]})
        self.assertEqual(text.splitlines(), [
            "case             lumen   eager  compile  ort  best peer  ratio",
            "softmax/8x8/f32   1 ms    2 ms    20 ms    -  eager       2.00",
            "softmax/8x8/f32   3 ms  1.5 ms    15 ms    -  eager       0.50  MISS",
            "geometric mean of the ratios: fused patterns 1.00, all 1.00"])


if __name__ == "__main__":
    unittest.main()
