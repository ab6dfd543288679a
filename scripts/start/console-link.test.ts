import { expect, test } from 'vitest'
import { browserOf, consoleLines, createConsoleLink, type Terminal } from './console-link.ts'

test.each<{ name: string; terminal: Partial<Terminal>; program: string | undefined }>([
  { name: 'a desktop of Linux', terminal: { env: { DISPLAY: ':0' } }, program: 'xdg-open' },
  { name: 'a Wayland desktop', terminal: { env: { WAYLAND_DISPLAY: 'wayland-0' } }, program: 'xdg-open' },
  { name: 'macOS', terminal: { platform: 'darwin' }, program: 'open' },
  { name: 'a chosen program', terminal: { env: { BROWSER: 'firefox' } }, program: 'firefox' },
  { name: 'a terminal without a desktop', terminal: {}, program: undefined },
  { name: 'output to a file', terminal: { isTTY: false, env: { DISPLAY: ':0' } }, program: undefined },
  { name: 'continuous integration', terminal: { env: { DISPLAY: ':0', CI: 'true' } }, program: undefined },
  {
    name: 'a browser that is switched off',
    terminal: { platform: 'darwin', env: { BROWSER: 'none' } },
    program: undefined,
  },
])('$name opens the link with $program', ({ terminal, program }) => {
  expect(browserOf({ isTTY: true, env: {}, platform: 'linux', ...terminal })).toBe(program)
})

test('a link opens a page after the sign-in, and keeps its token out of requests', async () => {
  const url = 'http://127.0.0.1:8090/sign-in#bsl_1'
  const api = { post: async <T>() => ({ url }) as T }
  expect(await createConsoleLink(api)).toBe(url)
  expect(await createConsoleLink(api, '/p/prj_1/incidents')).toBe(
    'http://127.0.0.1:8090/sign-in?return_to=%2Fp%2Fprj_1%2Fincidents#bsl_1',
  )
})

test('the lines have the link, and the command for a new one', () => {
  expect(consoleLines('http://127.0.0.1:8090/sign-in#bsl_1').join('\n')).toMatch(
    /^Open the console: {2}http:\/\/127\.0\.0\.1:8090\/sign-in#bsl_1\n.*npm run console:open$/,
  )
})
