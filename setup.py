"""Builds the Python module with CMake: the extension, and inside the package the program with its data and libraries."""
import os
import pathlib
import re
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

TOP = pathlib.Path(__file__).resolve().parent
TARGETS = ('aaco_python', 'aaco_product', 'aaco_manual')


class CMakeBuild(build_ext):
    """CMake builds into AACO_CMAKE_BUILD, or a folder of setuptools."""

    def run(self):
        build = pathlib.Path(os.environ.get('AACO_CMAKE_BUILD') or pathlib.Path(self.build_temp) / 'cmake').absolute()
        package = pathlib.Path(self.get_ext_fullpath('aaco._core')).absolute().parent
        if not (build / 'CMakeCache.txt').exists():  # another's build keeps its settings
            self.call('cmake', '-S', TOP, '-B', build, '-G', 'Ninja', f'-DAACO_MODULE_PYTHON={sys.executable}',
                      '-DCMAKE_BUILD_TYPE=Release', '-DAACO_BUILD_TESTS=OFF', '-DCMAKE_UNITY_BUILD=ON')
        self.call('cmake', '--build', build, '--target', *TARGETS)
        suffix = sysconfig.get_config_var('EXT_SUFFIX')
        if not (build / f'python/aaco/_core{suffix}').exists():
            sys.exit(f'{build} has no module for this Python (_core{suffix})\n'
                     'hint: install python3-dev and pybind11 (scripts/bootstrap.sh does), or unset AACO_CMAKE_BUILD')
        for component, prefix in (('python', package.parent), ('program', package / '_data')):
            self.call('cmake', '--install', build, '--component', component, '--prefix', prefix, '--strip')
        # The python component is installed as Debian has it; here the package is at the top.
        installed = package.parent / 'lib/python3/dist-packages/aaco'
        for file in installed.glob('_core*'):
            package.mkdir(parents=True, exist_ok=True)
            file.replace(package / file.name)
        self.call('cmake', '-E', 'rm', '-rf', package.parent / 'lib')

    @staticmethod
    def call(*words):
        subprocess.run([str(word) for word in words], check=True)


version = re.search(r'project\(aaco VERSION ([0-9.]+)', (TOP / 'CMakeLists.txt').read_text()).group(1)
setup(version=version, ext_modules=[Extension('aaco._core', [])], cmdclass={'build_ext': CMakeBuild})
