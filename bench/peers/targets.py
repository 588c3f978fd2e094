"""What bench/compare asks of the results of one thread count, and how it shows them. Needs nothing but Python."""
import math
import statistics

ANY = 0.95  # of the best peer's speed, everywhere
FUSED_MEAN = 1.3  # geometric mean over the fused patterns
NARROW_MATMUL = 1.1  # bf16 and int8 matmul, from 512 on
TILE_SHARE = 0.40  # of the measured AMX rate, for the same
COPY_SHARE = 0.85  # of the measured copy rate, for gemv and large elementwise and fold patterns
LARGE = 64 << 20  # bytes of such a pattern


def best_peer(result):
    """(name, seconds) of the fastest one; None when no peer can do the case."""
    peers = {who: s for who, s in result["seconds"].items() if who not in ("lumen", "limit")}
    return min(peers.items(), key=lambda item: item[1]) if peers else None


def over_lumen(result, who):
    """Somebody's time over Lumen's: the median over the rounds, in which both made a trial. What slows the machine for a
    second is in both of a round; medians of the times alone may be of different seconds."""
    trials = result["trials"]
    return statistics.median(theirs / ours for theirs, ours in zip(trials[who], trials["lumen"]))


def ratio(result):
    """Lumen's speed over the best peer's; None when one of them is missing."""
    best = best_peer(result)
    return over_lumen(result, best[0]) if best and "lumen" in result["seconds"] else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def matmul_size(case):
    return int(case["size"].split("x")[0])


def is_narrow_matmul(case):
    return case["group"] == "matmul" and case["dtype"] in ("bf16", "i8") and matmul_size(case) >= 512


def is_large_vector(case):
    return case["unit"] == "vector" and (case["group"] == "gemv" or case["bytes"] >= LARGE)


def has_limit(case):
    """Whether a share of what the machine can do is asked for: the trial `limit` is that, at the same time."""
    return is_narrow_matmul(case) or is_large_vector(case)


def share_of_limit(result):
    """None where the machine has no such unit."""
    return over_lumen(result, "limit") if result["seconds"].get("limit", 0) > 0 else None


def tile_share(result):
    """Of the AMX rate; None where that is not asked for."""
    return share_of_limit(result) if is_narrow_matmul(result) else None


def copy_share(result):
    """Of the copy rate; None where that is not asked for."""
    return share_of_limit(result) if is_large_vector(result) else None


def case_misses(result):
    """What is wrong with one case, as sentences without its name."""
    if "lumen" not in result["seconds"]:
        return ["lumen failed: " + result["problems"].get("lumen", "no reason given").splitlines()[0]]
    misses = []
    if not result["agrees"]:
        misses.append(f"the outputs are off by {result['error']:.2g} of the largest value")
    tiles, copies, speed = tile_share(result), copy_share(result), ratio(result)
    wanted = NARROW_MATMUL if tiles is not None else ANY
    if speed is None:
        misses.append("no peer to compare with")
    elif speed < wanted:
        misses.append(f"{speed:.2f} of {best_peer(result)[0]}, wanted {wanted}")
    if tiles is not None and tiles < TILE_SHARE:
        misses.append(f"{tiles:.0%} of the tile rate, wanted {TILE_SHARE:.0%}")
    if copies is not None and copies < COPY_SHARE:
        misses.append(f"{copies:.0%} of the copy rate, wanted {COPY_SHARE:.0%}")
    return misses


def fused_mean(report):
    return geometric_mean([r for r in (ratio(x) for x in report["results"] if x["fused"]) if r is not None])


def misses(report):
    """Every target that a report misses, one line each."""
    lines = [f"{result['name']}: {miss}" for result in report["results"] for miss in case_misses(result)]
    mean = fused_mean(report)
    if mean is not None and mean < FUSED_MEAN:
        lines.append(f"fused patterns: geometric mean {mean:.2f}, wanted {FUSED_MEAN}")
    return [f"{report['threads']} thread{'s' * (report['threads'] > 1)}: {line}" for line in lines]


def time_text(seconds):
    if seconds is None:
        return "-"
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit * 0.9995:
            break
    return f"{seconds / unit:.3g} {name}"


def row(result):
    seconds, speed = result["seconds"], ratio(result)
    cells = [time_text(seconds.get(who)) for who in ("lumen", "eager", "compile", "onnxruntime")]
    best = best_peer(result)
    shares = [tile_share, copy_share] if "lumen" in seconds else []
    notes = [f"{share:.0%} of {name}" for name, share in
             zip(("tiles", "copy"), (f(result) for f in shares)) if share is not None]
    return [result["name"], *cells, best[0] if best else "-", f"{speed:.2f}" if speed else "-",
            ("MISS " if case_misses(result) else "") + ", ".join(notes)]


def table(report):
    """The results as aligned lines."""
    rows = [["case", "lumen", "eager", "compile", "ort", "best peer", "ratio", ""]]
    rows += [row(result) for result in report["results"]]
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    left = (0, 5, 7)
    lines = ["  ".join(c.ljust(w) if k in left else c.rjust(w) for k, (c, w) in enumerate(zip(r, widths))).rstrip()
             for r in rows]
    mean, everything = fused_mean(report), geometric_mean([r for r in map(ratio, report["results"]) if r])
    totals = [f"{name} {value:.2f}" for name, value in (("fused patterns", mean), ("all", everything)) if value]
    if totals:
        lines.append("geometric mean of the ratios: " + ", ".join(totals))
    return "\n".join(lines)
