import { expect, test } from 'vitest'
import { readStartOptions, type StartCommand } from './start-options.ts'

const start = (
  withDemo: boolean,
  recheckDelayMs = 60_000,
  dataDir = '/clone/.backstop',
  topicPrefix = '',
): StartCommand => ({
  kind: 'start',
  options: { withDemo, opensBrowser: true, recheckDelayMs, dataDir, topicPrefix },
})

test.each<{ name: string; args?: string[]; env?: NodeJS.ProcessEnv; command: unknown }>([
  { name: 'nothing is the demo with its minute', command: start(true) },
  { name: '--no-demo leaves the demo out', args: ['--no-demo'], command: start(false) },
  { name: 'npm start --no-demo, without the --, does so too', env: { npm_config_demo: '' }, command: start(false) },
  {
    name: '--no-open opens no browser',
    args: ['--no-open'],
    command: { kind: 'start', options: expect.objectContaining({ withDemo: true, opensBrowser: false }) },
  },
  { name: '--data names another data folder', args: ['--data', '/second'], command: start(true, 60_000, '/second') },
  { name: 'a shorter minute is taken', env: { RECHECK_DELAY_MS: '5000' }, command: start(true, 5_000) },
  { name: 'an empty delay is none', env: { RECHECK_DELAY_MS: '' }, command: start(true) },
  {
    name: 'a delay that is no number is named',
    env: { RECHECK_DELAY_MS: '5s' },
    command: { kind: 'refused', fault: expect.stringMatching(/^RECHECK_DELAY_MS is "5s", but must be/) },
  },
  {
    name: 'a delay beyond a day is refused',
    env: { RECHECK_DELAY_MS: '86400001' },
    command: { kind: 'refused', fault: expect.stringContaining('86400000') },
  },
  {
    name: 'an unknown option is named',
    args: ['--nodemo'],
    command: { kind: 'refused', fault: expect.stringContaining('--nodemo') },
  },
  {
    name: 'what is no option is named',
    args: ['demo'],
    command: { kind: 'refused', fault: expect.stringContaining("'demo'") },
  },
  {
    name: 'the KAFKA_TOPIC_PREFIX of another product in the environment is ignored',
    env: { KAFKA_TOPIC_PREFIX: 'other.' },
    command: start(true),
  },
  {
    name: 'BACKSTOP_TEST_TOPIC_PREFIX sets the prefix',
    env: { BACKSTOP_TEST_TOPIC_PREFIX: 'test-1.' },
    command: start(true, 60_000, '/clone/.backstop', 'test-1.'),
  },
  { name: '--help asks for help', args: ['--help'], command: { kind: 'help' } },
])('$name', ({ args = [], env = {}, command }) => {
  expect(readStartOptions(args, env, '/clone/.backstop')).toEqual(command)
})
