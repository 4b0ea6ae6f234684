"""The hardware registry: list, show, check, and an entry for this machine."""
import program


class Hardware(program.ProgramTest):
    def own(self):
        return {'AACO_REGISTRY': str(self.folder / 'registry')}

    def test_lists_devices_of_each_kind(self):
        devices = self.aaco('hardware', 'ls', '--json').json()['devices']
        self.assertGreaterEqual(len(devices), 48)
        self.assertEqual({device['kind'] for device in devices}, {'cpu', 'gpu', 'accelerator'})
        self.assertIn('amd_instinct_mi300x_192gb', self.aaco('hardware', 'ls', '--kind', 'gpu').output)

    def test_shows_every_figure_with_its_source(self):
        device = self.aaco('hardware', 'show', 'mi300x', '--json').json()['device']
        self.assertTrue(device['memory']['bandwidth']['source'] in device['sources'])
        self.assertIn('[datasheet]', self.aaco('hardware', 'show', 'mi300x').output)

    def test_power_state_has_a_separate_clock(self):
        self.assertIn('420.75', self.aaco('hardware', 'show', 'jetson_orin_agx_15w').output)

    def test_shipped_registry_is_valid(self):
        outcome = self.aaco('hardware', 'check', **self.own())
        self.assertEqual(outcome.code, 0, outcome.output)

    def test_check_names_file_line_and_rule(self):
        source = self.aaco('hardware', 'show', 'mi300x', '--json').json()['device']['where'].rsplit(':', 1)[0]
        with open(source, encoding='utf-8') as entry:
            text = entry.read()
        wrong = self.folder / 'wrong.yaml'
        wrong.write_text(text.replace('unit: GB/s', 'unit: GHz', 1))
        outcome = self.aaco('hardware', 'check', wrong)
        self.assertEqual(outcome.code, 3)
        self.assertRegex(outcome.output, r'wrong\.yaml:\d+: .*GHz')
        wrong.write_text(text.replace('peak: 163.4', 'peak: 653.6', 1))
        outcome = self.aaco('hardware', 'check', wrong, '--json')
        self.assertEqual(outcome.code, 3)
        self.assertEqual(outcome.json()['problems'][0]['rule'], 'peak')

    def test_probe_writes_an_entry_that_takes_precedence(self):
        own = self.own()
        self.refused(self.aaco('hardware', 'show', 'this', **own), 3, 'hardware probe')
        probed = self.aaco('hardware', 'probe', '--memory', '32MiB', '--json', **own).json()
        self.assertEqual(self.aaco('hardware', 'check', **own).code, 0)
        shown = self.aaco('hardware', 'show', 'this', '--json', **own).json()['device']
        self.assertEqual(shown['id'], probed['device']['id'])
        self.assertGreater(shown['memory']['bandwidth']['value'], 1e8)
        self.assertIn('user entry', self.aaco('hardware', 'ls', '--kind', 'cpu', **own).output)

    def test_rejects_unknown_devices_and_states(self):
        self.refused(self.aaco('hardware', 'show', 'mi300y'), 3, 'did you mean')
        self.refused(self.aaco('hardware', 'show', 'mi300x@turbo'), 3, 'power state')
        self.refused(self.aaco('hardware', 'ls', '--kind', 'toaster'), 2)
        self.refused(self.aaco('hardware', 'probe', '--memory', 'much'), 2, '--memory')
        self.assertEqual(self.aaco('hardware', 'check', self.folder / 'none.yaml').code, 3)
