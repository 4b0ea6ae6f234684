"""The example notebooks run from top to bottom, each in an interpreter and a folder of its own."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from module import ModuleTest, needs_pandas

FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'examples/notebooks'
# Runs code cells in one namespace and shows what the last expression of each is, as a notebook does.
EXECUTE = '''
import ast, json, sys
space = {'__name__': '__main__'}
for cell in json.load(open(sys.argv[1]))['cells']:
    if cell['cell_type'] != 'code':
        continue
    tree = ast.parse(''.join(cell['source']))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, cell['id'], 'exec'), space)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), cell['id'], 'eval'), space)
        shown = value._repr_html_() if hasattr(value, '_repr_html_') else repr(value)
        assert shown, cell['id']
'''


@needs_pandas
class NotebookTest(ModuleTest):
    def run_notebook(self, name):
        folder = self.folder / name
        folder.mkdir()
        ran = subprocess.run([sys.executable, '-c', EXECUTE, str(FOLDER / f'{name}.ipynb')], capture_output=True, text=True, check=False,
                             timeout=300, cwd=folder, env={**os.environ, 'AACO_SESSIONS': str(folder / 'sessions'), 'AACO_CALIBRATIONS': ''})
        if 'ONNX Runtime library not found' in ran.stderr:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_first_run(self):
        self.run_notebook('first_run')

    def test_tables(self):
        self.run_notebook('tables')

    def test_compare(self):
        self.run_notebook('compare')

    def test_record(self):
        self.run_notebook('record')

    def test_predict(self):
        self.run_notebook('predict')

    def test_traces(self):
        self.run_notebook('traces')

    def test_every_notebook_has_a_test_and_no_outputs(self):
        names = {path.stem for path in FOLDER.glob('*.ipynb')}
        self.assertEqual(names, {name.removeprefix('test_') for name in dir(self) if name.startswith('test_')} - {'every_notebook_has_a_test_and_no_outputs'})
        for path in FOLDER.glob('*.ipynb'):
            for cell in json.loads(path.read_text())['cells']:
                self.assertFalse(cell.get('outputs'), path.name)


if __name__ == '__main__':
    unittest.main()
