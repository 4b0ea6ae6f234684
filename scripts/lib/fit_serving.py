#!/usr/bin/env python3
"""Fits the coefficients of data/rules/serving.yaml to published serving points, and scores them with whole models held out.

    scripts/lib/fit_serving.py --rows FILE.csv.gz --program build/release/bin/aaco            # scores
    scripts/lib/fit_serving.py --rows FILE.csv.gz --program build/release/bin/aaco --write    # rewrites data/rules/serving.yaml

The terms of every point (seconds at the specification's rates) are those of the program; only their coefficients are fitted: least
squares of logarithms, residuals above 15 % counting linearly, every model weighing the same, drawn towards the prior below, which are
typical efficiencies of kernels. No package beyond Python's own is needed.
"""

import argparse
import concurrent.futures
import csv
import gzip
import hashlib
import json
import math
import os
import re
import subprocess
import sys

PRIOR = {"products": 1.25, "experts": 1, "attention": 1.3, "exchange": 1.5, "messages": 5, "kernels": 3, "step": 1, "sequences": 1,
         "prefill_attention": 1}
# What the time to first token has beside prompts, whose part follows from the load: steps, and a time of each stack (10 ms).
FIRST_PRIOR = {"steps": 2, "constant": 2}
ROUNDS = 10  # requests of each client; src/estimation/serving/first_token.cc has the source
DRAW = 0.3  # of squared logarithms, where a model's rows weigh 100 together
DRAW_STACK = 1  # of a stack's time to that of all
LINEAR_BEYOND = 0.15
WAITING = "more requests than the cache has room for: a wait, not a time to first token"


def read_rows(path):
    with gzip.open(path, "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["mode"] == "agg" and row["tpot_ms"]]
    return [row | {"left_out": why_left_out(row, rows)} for row in rows]


def why_left_out(row, rows):
    """Points that are no time per output token at the concurrency they state; empty: kept."""
    if not row["concurrency"]:
        return "no concurrency recorded"
    same = ("device", "framework", "model", "tp", "moe_tp", "ep", "isl", "osl")
    for other in rows:
        if not other["concurrency"] or any(other[key] != row[key] for key in same):
            continue
        if int(other["concurrency"]) * 4 <= int(row["concurrency"]) and float(other["tpot_ms"]) * 0.95 > float(row["tpot_ms"]):
            return "time per token falls while the load rises fourfold: the server ran fewer requests than stated"
    return ""


def terms_of(program, row):
    command = [program, "analyze", row["model"], "--hardware", row["device"], "--serve", "--json", "--stack", row["framework"],
               "--tp", row["tp"], "--pp", row["pp"], "--isl", row["isl"], "--osl", row["osl"], "--concurrency", row["concurrency"]]
    if int(row["ep"] or 0) > 1:
        command += ["--ep", row["ep"]]
    if row["precision"] != "fp4":  # of GPT-OSS, as published: MXFP4 experts
        command += ["--dtype", row["precision"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[0]
    return json.loads(done.stdout)["points"][0]["estimate"], ""


def prompt_terms(estimate):
    """Seconds of one prompt alone by the terms of PRIOR."""
    work = estimate["prefill_work"]

    def seconds(name):
        return work.get(name, {}).get("roofline_ns", 0) / 1e9

    terms = dict.fromkeys(PRIOR, 0.0)
    terms["products"], terms["experts"], terms["prefill_attention"] = seconds("products"), seconds("experts"), seconds("attention")
    terms["exchange"] = seconds("collectives") + seconds("norms and activations")
    return list(terms.values())


class Point:
    def __init__(self, row, estimate):
        self.row, self.model, self.device, self.stack = row, row["model"], row["device"], row["framework"]
        self.version = row["framework_version"]
        self.terms = [estimate["terms"]["output_token_ns"][name] / 1e9 for name in PRIOR]
        self.seconds = float(row["tpot_ms"]) / 1e3
        self.first_seconds = float(row["ttft_ms"]) / 1e3
        self.prompt = prompt_terms(estimate)
        self.floor = [estimate["floor"][name] / 1e9 for name in ("ttft_ns", "tpot_ns")]
        self.running = estimate["load"]["running_per_replica"]
        self.waiting = float(row["concurrency"]) > self.running * 1.001

    def first_sample(self, coefficients):
        """The own prompt with the others', and a step, by these coefficients: as src/estimation/serving/first_token.cc has them."""
        def total(terms, least):
            return max(least, sum(a * b for a, b in zip(coefficients, terms)))
        prompt, step = total(self.prompt, self.floor[0]), total(self.terms, self.floor[1])
        away = step * (int(self.row["osl"]) - 1)
        low, high = 0.0, 1.0
        for _ in range(40):
            load = (low + high) / 2
            cycle = away + prompt + load / (2 * (1 - load)) * prompt
            low, high = (load, high) if (self.running - 1) * prompt / cycle > load else (low, load)
        others = prompt * (self.running - 1) / 2 / ROUNDS + low / (2 * (1 - low)) * prompt
        return self.model, self.stack, prompt + others, step * (1 - 1 / self.running), self.first_seconds


def solve(matrix, values):
    n = len(values)
    rows = [matrix[i][:] + [values[i]] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(n):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def fit(samples, prior):
    """Coefficients of samples (model, terms, seconds): Gauss-Newton in logarithms."""
    start = [math.log(value) for value in prior]
    at, n = start[:], len(start)
    counts = {}
    for model, _, _ in samples:
        counts[model] = counts.get(model, 0) + 1
    for _ in range(60):
        matrix = [[DRAW if i == j else 0.0 for j in range(n)] for i in range(n)]
        gradient = [DRAW * (start[i] - at[i]) for i in range(n)]
        scale = [math.exp(value) for value in at]
        for model, terms, seconds in samples:
            parts = [a * b for a, b in zip(scale, terms)]
            total = sum(parts)
            residual = math.log(seconds / total)
            weight = 100 / counts[model] * min(1, LINEAR_BEYOND / max(abs(residual), 1e-9))
            share = [part / total for part in parts]
            for i, one in enumerate(share):
                gradient[i] += weight * one * residual
                row, factor = matrix[i], weight * one
                for j, other in enumerate(share):
                    row[j] += factor * other
        step = solve(matrix, gradient)
        most = max(abs(value) for value in step)
        at = [a + b * min(1, 0.5 / most) for a, b in zip(at, step)]
        if most < 1e-4:
            break
    return [math.exp(value) for value in at]


def residuals(samples, coefficients):
    return [math.log(seconds / sum(a * b for a, b in zip(coefficients, terms))) for _, terms, seconds in samples]


def quantiles(pairs, models):
    """5 % and 95 % of (value, weight), wider by one part in `models`: so few models say little of the next one."""
    pairs = sorted(pairs)
    total, reached, low, high = sum(weight for _, weight in pairs), 0, None, None
    for value, weight in pairs:
        reached += weight
        if low is None and reached >= 0.05 * total:
            low = value
        if high is None and reached >= 0.95 * total:
            high = value
    return min(low, -0.02) * (1 + 1 / models), max(high, 0.02) * (1 + 1 / models)


def first_fit(samples):
    """(steps, 10 ms of all stacks, {stack: 10 ms}) of samples of Point.first_sample: a stack's is drawn to that of all."""
    stacks = sorted({sample[1] for sample in samples})
    start = [math.log(value) for value in FIRST_PRIOR.values()] + [0.0] * len(stacks)
    draw = [DRAW] * len(FIRST_PRIOR) + [DRAW_STACK] * len(stacks)
    at, n, counts = start[:], len(start), {}
    for sample in samples:
        counts[sample[0]] = counts.get(sample[0], 0) + 1
    for _ in range(60):
        matrix = [[draw[i] if i == j else 0.0 for j in range(n)] for i in range(n)]
        gradient = [draw[i] * (start[i] - at[i]) for i in range(n)]
        for model, stack, given, step, seconds in samples:
            own = 2 + stacks.index(stack)
            steps, constant = math.exp(at[0]) * step, 0.01 * math.exp(at[1] + at[own])
            total = given + steps + constant
            residual = math.log(seconds / total)
            weight = 100 / counts[model] * min(1, LINEAR_BEYOND / max(abs(residual), 1e-9))
            shares = ((0, steps / total), (1, constant / total), (own, constant / total))
            for i, one in shares:
                gradient[i] += weight * one * residual
                for j, other in shares:
                    matrix[i][j] += weight * one * other
        change = solve(matrix, gradient)
        most = max(abs(value) for value in change)
        at = [a + b * min(1, 0.5 / most) for a, b in zip(at, change)]
        if most < 1e-4:
            break
    return math.exp(at[0]), math.exp(at[1]), {stack: math.exp(at[1] + at[2 + i]) for i, stack in enumerate(stacks)}


class PerToken:
    """Time per output token: what is fitted, and how far points are from it."""
    title = "time per output token"

    def __init__(self, points):
        self.points, self.known = points, {}

    def fit_without(self, models):
        if models not in self.known:
            self.known[models] = fit([(p.model, p.terms, p.seconds) for p in self.points if p.model not in models],
                                     list(PRIOR.values()))
        return self.known[models]

    def residuals(self, points, models):
        """log(measured / estimate) by a fit without `models`."""
        return residuals([(p.model, p.terms, p.seconds) for p in points], self.fit_without(models))


class First:
    """Time to first token. A model that is held out is in neither fit, that of the prompts' terms and that of the rest."""
    title = "time to first token"

    def __init__(self, points, tokens):
        self.points, self.tokens, self.known = points, tokens, {}

    def fit_without(self, models):
        if models not in self.known:
            terms = self.tokens.fit_without(models)
            self.known[models] = first_fit([p.first_sample(terms) for p in self.points if p.model not in models])
        return self.known[models]

    def residuals(self, points, models):
        steps, common, constants = self.fit_without(models)
        made = []
        for point in points:
            _, stack, given, step, seconds = point.first_sample(self.tokens.fit_without(models))
            made.append(math.log(seconds / (given + steps * step + 0.01 * constants.get(stack, common))))
        return made


def held_residuals(figure, without):
    """(residual, weight) of every model but those in `without`, by a fit that lacks it as well."""
    out = []
    for held in sorted({point.model for point in figure.points} - without):
        mine = [point for point in figure.points if point.model == held]
        out += [(value, 1 / len(mine)) for value in figure.residuals(mine, without | {held})]
    return out


def score(figure):
    """Models held out, their bounds from the other models' own hold-out."""
    print(f"{figure.title}: whole models held out")
    print(f"  {'model':24} {'stack':7} {'device':5} points  error   bias  inside  upper/lower")
    models, errors, inside, ratios = sorted({point.model for point in figure.points}), [], [], []
    for held in models:
        mine = [point for point in figure.points if point.model == held]
        low, high = quantiles(held_residuals(figure, frozenset([held])), len(models) - 1)
        values = figure.residuals(mine, frozenset([held]))
        groups = {}
        for point, value in zip(mine, values):
            groups.setdefault((point.stack, point.device[:4]), []).append(value)
        for (stack, device), group in sorted(groups.items()):
            shares = [math.exp(-value) - 1 for value in group]
            print(f"  {held:24} {stack:7} {device:5} {len(group):6}  {100 * sum(map(abs, shares)) / len(shares):4.1f} %"
                  f" {100 * sum(shares) / len(shares):+5.1f} %  {100 * sum(low <= v <= high for v in group) / len(group):4.0f} %"
                  f"  {math.exp(high - low):.2f}")
        errors.append(sum(abs(math.exp(-value) - 1) for value in values) / len(values))
        inside.append(sum(low <= value <= high for value in values) / len(values))
        ratios.append(math.exp(high - low))
    mean = sum(errors) / len(errors)
    print(f"  mean over {len(models)} models: error {100 * mean:.1f} %, inside {100 * sum(inside) / len(inside):.0f} %, "
          f"median upper/lower {sorted(ratios)[len(ratios) // 2]:.2f}")
    return mean


def score_versions(tokens):
    """Errors by stack and version, whole models held out: (stack, version) -> (points, mean error)."""
    groups = {}
    for held in sorted({point.model for point in tokens.points}):
        mine = [point for point in tokens.points if point.model == held]
        for point, value in zip(mine, tokens.residuals(mine, frozenset([held]))):
            groups.setdefault((point.stack, point.version), {}).setdefault((point.model, point.device[:4]), []).append(math.exp(-value) - 1)
    print("time per output token by stack and version: whole models held out")
    found = {}
    for (stack, version), models in sorted(groups.items()):
        for (model, device), shares in sorted(models.items()):
            print(f"  {stack:7} {version or 'not recorded':16} {model:24} {device:5} {len(shares):4} points"
                  f"  error {100 * sum(map(abs, shares)) / len(shares):4.1f} %  bias {100 * sum(shares) / len(shares):+5.1f} %")
        everything = [share for shares in models.values() for share in shares]
        found[stack, version] = (len(everything), sum(map(abs, everything)) / len(everything))
    return found


def score_devices(points):
    """One device's rows from the other's fit, over all models; the ratio to the error within."""
    print("one device held out")
    for held in sorted({point.device for point in points}):
        seen = [(point.model, point.terms, point.seconds) for point in points if point.device != held]
        mine = [(point.model, point.terms, point.seconds) for point in points if point.device == held]
        if not seen:
            continue
        values = residuals(mine, fit(seen, list(PRIOR.values())))
        print(f"  {held:24} {len(values):6} points  error {100 * sum(abs(math.exp(-v) - 1) for v in values) / len(values):.1f} %")


def write_rules(path, tokens, first, mean, digest, versions):
    with open(path) as file:
        text = file.read()
    points, everyone = tokens.points, frozenset()
    models = len({point.model for point in points})
    bounds, first_bounds = [quantiles(held_residuals(figure, everyone), models) for figure in (tokens, first)]
    steps, _, constants = first.fit_without(everyone)
    coefficients, spreads = tokens.fit_without(everyone), {}
    for point, value in zip(points, tokens.residuals(points, everyone)):
        spreads.setdefault(point.stack, []).append(value)

    def put(key, value):
        nonlocal text
        text = re.sub(rf"^{key}: .*$", f"{key}: {value}", text, count=1, flags=re.M)

    put("coefficients", "{" + ", ".join(f"{name}: {value:.3g}" for name, value in zip(PRIOR, coefficients)) + "}")
    put("first_token_steps", f"{steps:.3g}")
    put("bounds", f"[{bounds[0]:.3f}, {bounds[1]:.3f}]")
    put("first_token_bounds", f"[{first_bounds[0]:.3f}, {first_bounds[1]:.3f}]")
    put("rows", len(points))
    put("models", models)
    put("mean_error", f"{mean:.3f}")
    put("rows_sha256", digest)
    for stack, values in spreads.items():
        spread = abs(sum(values) / len(values))
        text = re.sub(rf"(name: {stack},.*?spread: )[0-9.]+", rf"\g<1>{spread:.3f}", text)
        text = re.sub(rf"(name: {stack},.*?first_token_s: )[0-9.]+", rf"\g<1>{constants[stack] / 100:.3g}", text)
    lines = "".join(f'  - {{stack: {stack}, version: "{version}", points: {count}, error: {error:.3f}}}\n'
                    for (stack, version), (count, error) in sorted(versions.items()))
    text = re.sub(r"^versions:\n(  - .*\n)*", "versions:\n" + lines, text, count=1, flags=re.M)
    with open(path, "w") as file:
        file.write(text)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", required=True, help="serving.csv.gz: columns as in its README")
    parser.add_argument("--program", required=True, help="aaco")
    parser.add_argument("--rules", default="data/rules/serving.yaml")
    parser.add_argument("--write", action="store_true", help="rewrite the rules")
    options = parser.parse_args()
    rows = read_rows(options.rows)
    reasons = {}
    for row in rows:
        if row["left_out"]:
            reasons[row["left_out"]] = reasons.get(row["left_out"], 0) + 1
    kept = [row for row in rows if not row["left_out"]]
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        estimates = list(pool.map(lambda row: terms_of(options.program, row), kept))
    points = [Point(row, estimate) for row, (estimate, _) in zip(kept, estimates) if estimate]
    for row, (estimate, why) in zip(kept, estimates):
        if not estimate:
            reasons[why] = reasons.get(why, 0) + 1
    print(f"{len(rows)} points of one server, {len(points)} used")
    for why, count in sorted(reasons.items()):
        print(f"  left out: {count}, {why}")
    tokens = PerToken(points)
    mean = score(tokens)
    score_devices(points)
    versions = score_versions(tokens)
    first = First([point for point in points if not point.waiting], tokens)
    print(f"{len(first.points)} points of time to first token; left out: {len(points) - len(first.points)}, {WAITING}")
    score(first)
    steps, _, constants = first.fit_without(frozenset())
    print(f"first token: {steps:.3g} steps; " + ", ".join(f"{stack} {10 * value:.0f} ms" for stack, value in sorted(constants.items())))
    print("coefficients: " + ", ".join(f"{name} {value:.3g}" for name, value in zip(PRIOR, tokens.fit_without(frozenset()))))
    if options.write:
        with open(options.rows, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        write_rules(options.rules, tokens, first, mean, digest, versions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
