"""Runs a program and prints as JSON how long it took to its first byte of output, and the most memory it had.

usage: python3 -S first_output.py PROGRAM ARGUMENT...

A process starts with the peak of whoever started it, so this one is small: it imports nothing that it does not need.
"""
import os
import sys
import time

output, its_end = os.pipe()
start = time.perf_counter()
child = os.fork()
if child == 0:
    os.dup2(its_end, 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.execv(sys.argv[1], sys.argv[1:])
os.close(its_end)
os.read(output, 1)
seconds = time.perf_counter() - start
while os.read(output, 4096):
    pass
_, status, usage = os.wait4(child, 0)
print(f'{{"first_seconds": {seconds}, "rss": {usage.ru_maxrss * 1024}}}')
sys.exit(1 if status else 0)
