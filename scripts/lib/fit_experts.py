#!/usr/bin/env python3
"""Prints the shares of the peak that experts' products reach, which data/rules/serving.yaml has under `experts`.

    scripts/lib/fit_experts.py --rows moe.csv.gz

For each type of weights, the ratio with the least mean |log| of measured time over (operations / (ratio x peak) + bytes / bandwidth),
over the fastest kernel of every shape on one GPU of H200, every layer weighing the same. Shapes below 20 us are launches.
"""

import argparse
import csv
import gzip
import math

BANDWIDTH = 4.8e12  # H200, data sheet, as the peaks
TYPES = {"bfloat16": (989.4e12, 2), "fp8_block": (1978.9e12, 1), "w4a16_mxfp4": (989.4e12, 0.5 + 1 / 32),
         "int4_wo": (989.4e12, 0.5 + 2 / 128)}  # peak of what is computed in, bytes of a weight with its scales
LAUNCH_S = 20e-6


def work(row):
    """Seconds at the peak and at the bandwidth, tokens choosing their experts at random."""
    peak, weight = TYPES[row["dtype"]]
    tokens, hidden, inner, experts, chosen, tensor = (int(row[key]) for key in ("tokens", "hidden", "inter", "experts", "topk", "tp"))
    matrices, inner = 3 if row["gated"] == "1" else 2, inner / tensor
    busy = experts * (1 - (1 - chosen / experts) ** tokens)
    moved = busy * matrices * hidden * inner * weight + tokens * chosen * (2 * hidden + 3 * inner) * 2
    return 2 * matrices * hidden * inner * tokens * chosen / peak, moved / BANDWIDTH


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", required=True, help="moe.csv.gz: columns as in its README")
    fastest = {}
    with gzip.open(parser.parse_args().rows, "rt") as file:
        for row in csv.DictReader(file):
            if not row["device"].startswith("H200") or row["dtype"] not in TYPES or row["ep"] != "1":
                continue
            layer = tuple(row[key] for key in ("hidden", "inter", "experts", "topk"))
            key = (row["dtype"], layer, row["tokens"], row["gated"], row["tp"], row["distribution"])
            seconds = float(row["latency_us"]) * 1e-6
            if sum(work(row)) >= LAUNCH_S and (key not in fastest or seconds < fastest[key][0]):
                fastest[key] = (seconds, *work(row))
    for name in TYPES:
        layers = {}
        for key, shape in fastest.items():
            if key[0] == name:
                layers.setdefault(key[1], []).append(shape)

        def error(ratio):
            return sum(sum(abs(math.log(seconds / (computing / ratio + moving))) for seconds, computing, moving in shapes) / len(shapes)
                       for shapes in layers.values()) / len(layers)
        least, ratio = min((error(percent / 100), percent / 100) for percent in range(5, 100))
        print(f"{name}: {sum(map(len, layers.values()))} shapes of {len(layers)} layers, ratio {ratio:.2f}, mean |log| {least:.2f}")


if __name__ == "__main__":
    main()
