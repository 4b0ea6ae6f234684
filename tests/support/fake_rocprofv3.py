#!/usr/bin/env python3
"""Stands in for rocprofv3: executes the command and writes tables of the real format, of kernels that it makes up.

FAKE_ROCPROF says how it fails: exit (code 9 after writing), nothing (writes no table), cut (a table that ends inside a line), hang, empty
(headers only), second (no kernels, and says that another tool is registered), crash (code 3 before anything).
FAKE_ROCPROF_STEP names a JSON file with the kernels of one step ([{"name", "grid", "block", "ns"}, ...], grid in work-items): they are then
launched 20 times in place of the five of the usual kind, after some that only the first step has."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

KERNELS = ('"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp",'
           '"End_Timestamp","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"')
CALLS = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"'
COUNTERS = ('"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name",'
            '"Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value",'
            '"Start_Timestamp","End_Timestamp"')


def write(folder, name, lines, cut):
    folder.mkdir(parents=True, exist_ok=True)
    text = '\n'.join(lines) + '\n'
    (folder / name).write_text(text[:-20] if cut else text)


def write_steps(folder, options, step, begin, steps=20):
    setup = [{'name': 'fill_kernel', 'grid': 256, 'block': 256, 'ns': 2000}] * 2
    kernels, calls, now = [KERNELS], [CALLS], begin
    for number, kernel in enumerate(setup + step * steps, 1):
        now += 200_000 if (number - len(setup)) % len(step) == 1 % len(step) else 3000
        kernels.append(f'"KERNEL_DISPATCH","Agent 1",1,7,{number},{len(kernel["name"])},"{kernel["name"]}",{number},{now},{now + kernel["ns"]},'
                       f'{kernel["block"]},1,1,{kernel["grid"]},1,1')
        calls.append(f'"HIP_RUNTIME_API","hipModuleLaunchKernel",7,7,{number},{now - 2000},{now - 1000}')
        now += kernel['ns']
    if options.kernel_trace:
        write(folder, f'{options.o}_kernel_trace.csv', kernels, False)
    if options.hip_trace:
        write(folder, f'{options.o}_hip_api_trace.csv', calls, False)


def main():
    if '--version' in sys.argv[1:2]:
        print('        version: 1.0.0\n   git_revision: none\n')
        return 0
    parser = argparse.ArgumentParser()
    for flag in ('kernel', 'hip', 'hsa', 'marker', 'memory-copy', 'memory-allocation', 'scratch-memory', 'rccl'):
        parser.add_argument(f'--{flag}-trace', action='store_true')
    parser.add_argument('--pmc', nargs='*', default=[])
    parser.add_argument('--output-format', nargs='*')
    parser.add_argument('-d', required=True)
    parser.add_argument('-o', required=True)
    ours, theirs = sys.argv[1:sys.argv.index('--')], sys.argv[sys.argv.index('--') + 1:]
    options = parser.parse_args(ours)
    mode = os.environ.get('FAKE_ROCPROF', '')
    if mode == 'crash':
        print('rocprofv3: fatal: no such agent', file=sys.stderr)
        return 3
    begin = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    code = subprocess.run(theirs, check=False).returncode
    if mode == 'hang':
        time.sleep(600)
    folder = pathlib.Path(options.d)
    number = 0 if mode in ('empty', 'second') else 5
    spans = [(i, begin + 10_000 * i, begin + 10_000 * i + 1000 * i) for i in range(1, number + 1)]
    if step := os.environ.get('FAKE_ROCPROF_STEP'):
        return write_steps(folder, options, json.loads(pathlib.Path(step).read_text()), begin) or code
    if mode == 'second':
        print('rocprofiler-sdk: a tool is already registered with the runtime', file=sys.stderr)
    if mode != 'nothing':
        if options.kernel_trace:
            write(folder, f'{options.o}_kernel_trace.csv',
                  [KERNELS] + [f'"KERNEL_DISPATCH","Agent 1",1,7,{i},5,"Cijk_Ailk_Bljk_SB_MT64x64x8_SE",{i},{start},{end},64,1,1,128,1,1'
                               for i, start, end in spans], mode == 'cut')
        if options.hip_trace:
            write(folder, f'{options.o}_hip_api_trace.csv',
                  [CALLS] + [f'"HIP_RUNTIME_API","hipLaunchKernel",7,7,{i},{start - 900},{start - 800}' for i, start, end in spans or [(1, begin + 1000, 0)]], False)
        if options.pmc:
            write(folder, f'{options.o}_counter_collection.csv',
                  [COUNTERS] + [f'{i},{i},"Agent 1",1,7,7,128,5,"Cijk_Ailk_Bljk_SB_MT64x64x8_SE",64,0,0,8,16,"{counter}",{10 * i},{start},{end}'
                                for i, start, end in spans for counter in options.pmc], False)
    if mode == 'exit':
        print('rocprofv3: something went wrong', file=sys.stderr)
        return 9
    return code


if __name__ == '__main__':
    sys.exit(main())
