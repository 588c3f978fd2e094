"""What reading costs: thousands of global lets, large nested expressions and many checks, with next to no rules."""


def balanced(low, high):
    if high - low == 1:
        return f"(Leaf {low})"
    middle = (low + high) // 2
    return f"(Join {balanced(low, middle)} {balanced(middle, high)})"


def left_deep(depth, salt):
    return "(Join " * depth + "(Leaf 0)" + "".join(f" (Leaf {salt + i})" + ")" for i in range(depth))


HEADER = ["(datatype Tree (Leaf i64) (Join Tree Tree))", "(rewrite (Join (Leaf 0) (Leaf 1)) (Leaf 1))"]


def lets(count, checks):
    lines = [*HEADER, "(let $n0 (Leaf 0))"]
    for i in range(1, count):
        lines.append(f"(let $n{i} (Join $n{i - 1} (Join $n{i // 2} (Leaf {i}))))")
    lines.append("(run 2)")
    for i in range(checks):
        n = 1 + (i * 7919) % (count - 1)
        lines.append(f"(check (= $n{n} (Join $n{n - 1} (Join $n{n // 2} (Leaf {n})))))")
    return "\n".join([*lines, "(print-size)", ""])


def expressions(leaves, depth, chains):
    lines = [*HEADER, f"(let $balanced {balanced(0, leaves)})"]
    lines += [f"(let $deep{k} {left_deep(depth, k)})" for k in range(chains)]
    return "\n".join([*lines, "(run 2)", "(check (= $balanced $balanced))", "(print-size)", ""])
