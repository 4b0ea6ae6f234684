"""The commands of README.md work as typed, in their order, on a machine without sessions, and print what it shows.

Numbers, times and bars may differ, and a line may be broken elsewhere; words, columns and their order may not. AACO_REBASELINE=1 writes
the lines that are printed now into README.md (scripts/rebaseline.sh).
"""
import difflib
import os
import pathlib
import re
import shlex
import unittest

import program

README = pathlib.Path(__file__).resolve().parents[2] / 'README.md'
SHIPPED = str(README.parent / 'data/calibration')
BLOCK = re.compile(r'^```console\n\$ (?P<command>.*)\n(?P<output>(?:.*\n)*?)```$', re.M)
OMITTED = '…'
NUMBER = re.compile(r'[-+±<>~]?\d[\d.,]*(?:e[-+]?\d+)?(?:\s?(?:ns|µs|us|ms|s|min|h|[kMGT]?i?B|[kMG])(?![\w/]))?')


def shape(text):
    """Words without numbers, units of time and size, bars, and line breaks."""
    text = re.sub(r'[█▉▊▋▌▍▎▏▓▒░─-]{2,}|[█▉▊▋▌▍▎▏▓▒░]', ' ', text)
    return ' '.join(NUMBER.sub('#', text).split())


def after(shown, printed, begin=0):
    """The place behind the words of a shown line in what was printed, from `begin` on; -1: they are not there."""
    if not shape(shown):
        return begin
    wanted = ' ' + shape(shown) + ' '
    place = (' ' + printed + ' ').find(wanted, begin)
    return place if place < 0 else place + len(wanted) - 1


def renewed(shown, printed):
    """The shown lines, each as the printed line that is most like it (in order)."""
    lines, out = printed.splitlines(), []
    for line in shown.splitlines():
        near = None if line == OMITTED else difflib.get_close_matches(shape(line), [shape(one) for one in lines], 1, 0.4)
        if near:
            place = next(i for i, one in enumerate(lines) if shape(one) == near[0])
            line, lines = lines[place].rstrip(), lines[place + 1:]
        out.append(line)
    return ''.join(line + '\n' for line in out)


class Readme(program.ProgramTest):
    def test_commands_work_as_typed(self):
        text = README.read_text()
        blocks = list(BLOCK.finditer(text))
        self.assertEqual(len(blocks), 5)
        for block in blocks:
            words = shlex.split(block['command'])
            self.assertEqual(words[0], 'aaco')
            with self.subTest(block['command']):
                told = self.aaco(*words[1:], AACO_SESSIONS='sessions', AACO_CALIBRATIONS=SHIPPED)
                if told.code == 3 and 'ONNX Runtime' in told.errors and 'unsupported' in told.errors:
                    self.skipTest('skipped, no ONNX Runtime on this machine')
                self.assertIn(told.code, (0, 1, 4) if words[1] == 'ab' else (0,), told.errors)
                printed = told.output or told.errors
                if os.environ.get('AACO_REBASELINE'):
                    text = text.replace(block['output'], renewed(block['output'], printed))
                else:
                    self.shows(block['output'], printed)
        if os.environ.get('AACO_REBASELINE'):
            README.write_text(text)

    def shows(self, shown, printed):
        words, place = shape(printed), 0
        for line in shown.splitlines():
            if line != OMITTED:
                place = after(line, words, place)
                self.assertGreaterEqual(place, 0, f'README.md shows this line, and it was not printed:\n{line}\n--- printed:\n{printed}')


class Shape(unittest.TestCase):
    def test_numbers_and_bars_are_ignored(self): self.assertEqual(shape('Conv  ███▏ 89.3 %  33.4 ms'), shape('Conv █ 9 %   1.2 µs'))
    def test_line_breaks_are_ignored(self): self.assertGreater(after('two words', shape('one two\nwords')), 0)
    def test_words_are_compared(self): self.assertEqual(after('other words', shape('one two words')), -1)
    def test_order_is_compared(self): self.assertEqual(after('one', 'one two', after('two', 'one two')), -1)
    def test_next_line_is_matched(self): self.assertGreater(after('two', 'one two', after('one', 'one two')), 0)
    def test_a_rule_of_dashes_has_no_words(self): self.assertEqual(after('---  ----', 'one', 2), 2)
    def test_part_of_a_word_does_not_match(self): self.assertEqual(after('wo', shape('one two')), -1)
    def test_renewal_uses_the_most_similar_line(self): self.assertEqual(renewed('…\nConv 1 ms\n', 'x\nConv 2 ms\nMul 3 ms\n'), '…\nConv 2 ms\n')


if __name__ == '__main__':
    unittest.main()
