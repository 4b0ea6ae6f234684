"""Jupyter runs the example notebooks from top to bottom, each in a kernel and a folder of its own."""
import ast
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from module import ModuleTest, needs_pandas

FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'examples/notebooks'
JUPYTER_FOLDERS = ('IPYTHONDIR', 'JUPYTER_CONFIG_DIR', 'JUPYTER_DATA_DIR', 'JUPYTER_RUNTIME_DIR')
JUPYTER = all(importlib.util.find_spec(name) for name in ('nbconvert', 'ipykernel'))


@unittest.skipUnless(JUPYTER, 'skipped, nbconvert or ipykernel is not installed')
@needs_pandas
class NotebookTest(ModuleTest):
    def run_notebook(self, name):
        folder = self.folder / name
        folder.mkdir()
        # A copy, since Jupyter starts the kernel in the folder of the notebook.
        shutil.copy(FOLDER / f'{name}.ipynb', folder)
        ran = subprocess.run([sys.executable, '-m', 'nbconvert', '--to', 'notebook', '--execute', '--ExecutePreprocessor.timeout=240',
                              '--output', 'executed.ipynb', str(folder / f'{name}.ipynb')], capture_output=True, text=True, check=False, timeout=300,
                             cwd=folder, env={**os.environ, **dict.fromkeys(JUPYTER_FOLDERS, str(folder / 'jupyter')), 'AACO_SESSIONS': str(folder / 'sessions'), 'AACO_CALIBRATIONS': ''})
        if 'ONNX Runtime library not found' in ran.stderr:
            self.skipTest('skipped, no ONNX Runtime on this machine')
        self.assertEqual(ran.returncode, 0, ran.stderr)
        cells = [cell for cell in json.loads((folder / 'executed.ipynb').read_text())['cells'] if cell['cell_type'] == 'code']
        for cell in cells:
            last = ast.parse(''.join(cell['source'])).body[-1]
            if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call):
                self.assertTrue(cell['outputs'], (name, cell['id']))
        self.assertTrue(any('data' in output for cell in cells for output in cell['outputs']), name)

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
