"""The documents as static pages: complete, without a dead link, readable without a network; and the check of links finds what is planted."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import trees

TOOL = trees.TOP / 'tools/make_site'


def check(folder):
    return subprocess.run([TOOL, '--check', folder], capture_output=True, text=True, check=False)


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'below').mkdir()
        (self.folder / 'index.html').write_text('<h1 id="top">A</h1><a href="below/page.html#part">p</a><a href="https://example.org/x">x</a>')
        (self.folder / 'below/page.html').write_text('<h2 id="part">B</h2><a href="../index.html#top">up</a><a href="#part">here</a>')

    def found(self, body):
        (self.folder / 'more.html').write_text(body)
        ran = check(self.folder)
        self.assertEqual(ran.returncode, 1, ran.stdout)
        return ran.stdout.splitlines()[0]

    def test_live_links_pass(self): self.assertEqual(check(self.folder).returncode, 0)

    def test_a_missing_page_is_found(self):
        self.assertEqual(self.found('<a href="below/none.html">'), 'more.html: below/none.html (no such page)')

    def test_a_missing_heading_is_found(self):
        self.assertEqual(self.found('<a href="below/page.html#none">'), 'more.html: below/page.html#none (no such heading)')

    def test_a_missing_image_is_found(self): self.assertIn('none.png', self.found('<img src="none.png">'))

    def test_a_link_out_of_the_site_is_found(self): self.assertIn('../index.html', self.found('<a href="../index.html">'))

    def test_a_folder_that_is_missing_is_refused(self): self.assertEqual(check(self.folder / 'none').returncode, 2)


@unittest.skipUnless(shutil.which('mkdocs'), 'skipped, MkDocs is not installed (apt-get install mkdocs)')
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name) / 'site'
        cls.ran = subprocess.run([TOOL, cls.folder], capture_output=True, text=True, check=False)

    def test_no_link_is_dead(self): self.assertEqual(self.ran.returncode, 0, self.ran.stdout + self.ran.stderr)

    def test_every_document_is_a_page(self):
        for path in (trees.TOP / 'docs').rglob('*.md'):
            self.assertTrue((self.folder / path.relative_to(trees.TOP / 'docs').with_suffix('.html')).is_file(), path)

    def test_the_readme_is_the_first_page(self): self.assertIn('AI Compute Observatory', (self.folder / 'index.html').read_text())

    def test_nothing_is_loaded_from_elsewhere(self):
        for path in self.folder.rglob('*.html'):
            self.assertNotRegex(path.read_text(), r'<(script|link|img)[^>]+(src|href)="(https?:)?//')


if __name__ == '__main__':
    unittest.main()
