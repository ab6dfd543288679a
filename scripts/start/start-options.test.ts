import { expect, test } from 'vitest'
import { readStartOptions, type Wish } from './start-options.ts'

const start = (withDemo: boolean, recheckDelayMs = 60_000, dataDir = '/clone/.backstop'): Wish => ({
  kind: 'start',
  options: { withDemo, recheckDelayMs, dataDir },
})

test.each<{ name: string; args?: string[]; env?: NodeJS.ProcessEnv; wish: unknown }>([
  { name: 'nothing is the demo with its minute', wish: start(true) },
  { name: '--no-demo leaves the demo out', args: ['--no-demo'], wish: start(false) },
  { name: 'npm start --no-demo, without the --, does so too', env: { npm_config_demo: '' }, wish: start(false) },
  { name: '--data names another data folder', args: ['--data', '/second'], wish: start(true, 60_000, '/second') },
  { name: 'a shorter minute is taken', env: { RECHECK_DELAY_MS: '5000' }, wish: start(true, 5_000) },
  { name: 'an empty delay is none', env: { RECHECK_DELAY_MS: '' }, wish: start(true) },
  {
    name: 'a delay that is no number is named',
    env: { RECHECK_DELAY_MS: '5s' },
    wish: { kind: 'refused', fault: expect.stringMatching(/^RECHECK_DELAY_MS is "5s", but must be/) },
  },
  {
    name: 'a delay beyond a day is refused',
    env: { RECHECK_DELAY_MS: '86400001' },
    wish: { kind: 'refused', fault: expect.stringContaining('86400000') },
  },
  {
    name: 'an unknown option is named',
    args: ['--nodemo'],
    wish: { kind: 'refused', fault: expect.stringContaining('--nodemo') },
  },
  {
    name: 'what is no option is named',
    args: ['demo'],
    wish: { kind: 'refused', fault: expect.stringContaining("'demo'") },
  },
  { name: '--help asks for help', args: ['--help'], wish: { kind: 'help' } },
])('$name', ({ args = [], env = {}, wish }) => {
  expect(readStartOptions(args, env, '/clone/.backstop')).toEqual(wish)
})
