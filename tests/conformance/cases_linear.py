"""Products of tensors."""

import torch
import torch.nn.functional as F

from inputs import FLOATS, INTS, random, with_specials

MATMULS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 5)), ((2, 3), (3, 5)), ((4, 2, 3), (3, 5)), ((2, 3), (4, 3, 5)),
           ((4, 2, 3), (4, 3, 5)), ((4, 1, 2, 3), (5, 3, 7)), ((3,), (4, 3, 5)), ((4, 2, 3), (3,)), ((1, 1), (1, 1)),
           ((0, 3), (3, 5)), ((2, 0), (0, 5)), ((2, 3), (3, 0)), ((0, 2, 3), (3, 1)), ((0,), (0,)),
           ((13, 64), (64, 11)), ((1, 7, 1), (3, 1, 2))]
EINSUMS = [("ij,jk->ik", [(3, 4), (4, 5)]), ("ij,jk", [(3, 4), (4, 5)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
           ("ii->i", [(4, 4)]), ("ii", [(4, 4)]), ("ij->ji", [(3, 5)]), ("ij->", [(3, 5)]), ("ij->j", [(3, 5)]),
           ("i,j->ij", [(3,), (5,)]), ("i,i->", [(7,), (7,)]), ("i,i", [(7,), (7,)]),
           ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
           ("b...i,ij->b...j", [(2, 3, 4), (4, 5)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
           ("iij->j", [(3, 3, 2)]),
           ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]), ("...->...", [(2, 3)]), ("i...->...", [(3, 2, 4)]),
           ("ij,ij->ij", [(3, 4), (3, 4)]), ("ij,kj->ik", [(3, 4), (5, 4)]), ("a,ab,b->", [(3,), (3, 4), (4,)]),
           ("ba,b->a", [(2, 3), (2,)]), ("ij, jk -> ik", [(2, 0), (0, 3)]), ("i,ij->i", [(1,), (3, 4)]),
           ("...a,...a->...", [(2, 1, 3), (5, 3)])]


def add_cases(suite):
    for dtype in FLOATS + INTS:
        for a, b in MATMULS:
            suite.case("matmul", [random(a, dtype), random(b, dtype)], torch.matmul, symbolic=True, if_defined=True)
        for n in [1, 2, 7, 0, 61]:
            suite.case("dot", [random((n,), dtype), random((n,), dtype)], torch.dot, symbolic=True, if_defined=True)
        for n, m in [(3, 5), (1, 7), (0, 3), (4, 1)]:
            suite.case("outer", [random((n,), dtype), random((m,), dtype)], torch.outer, symbolic=True)
        for x, weight, bias in [((3,), (5, 3), (5,)), ((2, 3), (5, 3), None), ((2, 4, 3), (5, 3), (5,)),
                                ((0, 3), (5, 3), (5,)), ((2, 3), (1, 3), (1,)), ((7, 61), (11, 61), None)]:
            operands = [random(x, dtype), random(weight, dtype), None if bias is None else random(bias, dtype)]
            suite.case("linear", operands, F.linear, symbolic=True, if_defined=True)
    for dtype in [torch.float32, torch.float64, torch.bfloat16, torch.int64]:
        for equation, shapes in EINSUMS:
            operands = [random(shape, dtype) for shape in shapes]
            suite.case("einsum", operands, lambda *xs: torch.einsum(equation, *xs), {"equation": equation},
                       if_defined=True, symbolic=True, label=equation)
    for dtype in [torch.float64, torch.float32]:
        suite.case("matmul", [with_specials((3, 4), dtype), with_specials((4, 5), dtype)], torch.matmul, label="NaN")
