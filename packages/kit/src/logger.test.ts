import { spawn, spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { Secret } from './config/secret.ts'
import { AppError } from './errors.ts'
import { createLogger, maskSecrets } from './logger.ts'

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = []
  write(createLogger('test', 'trace', { write: line => void lines.push(line) }))
  return lines.join('')
}

const CANARIES = [
  { name: 'a signing secret', text: 'whsec_CANARYcanary123' },
  { name: 'a destination key', text: 'pdl_ntfset_01CANARY_canary' },
  { name: 'an API key of ours', text: 'bsk_CANARYcanary0123456789' },
  { name: "a processor's key", text: 'rk_live_CANARY123' },
  { name: 'a bearer header', text: 'Bearer CANARYcanary0123' },
  { name: 'a basic header', text: 'Basic Q0FOQVJZOkNBTkFSWQ==' },
  { name: 'an incoming webhook', text: 'https://hooks.slack.com/services/T0CANARY/B0CANARY/canary' },
  { name: 'a webhook of Discord', text: 'https://ptb.discord.com/api/webhooks/129/CANARY-canary_0123' },
  { name: 'a webhook of Discord with a version', text: 'https://discord.com/api/v10/webhooks/129/CANARY-canary_0123' },
  {
    name: 'the signature of a Teams workflow',
    text: 'https://prod-1.westeurope.logic.azure.com:443/workflows/a1/triggers/manual/paths/invoke?sv=1.0&sig=CANARY%2Fcanary0123',
  },
  { name: 'a password in a URL', text: 'mongodb://user:CANARY@db.example:27017' },
  { name: 'a password with colons in a URL', text: 'smtps://user:CANARY:x:y@mail.example' },
]

describe('the log', () => {
  test.each(CANARIES)('masks $name wherever it stands', ({ text }) => {
    const secretPart = /CANARY|Q0FOQVJZ/
    const error = new AppError('unavailable', `Cannot reach ${text}`, { cause: new Error(text) })
    const output = logged(logger => {
      logger.info(text)
      logger.info({ field: text, nested: { deep: [text] } }, 'line')
      logger.error({ error }, 'failed')
    })
    expect(output.split('\n')).toHaveLength(4)
    expect(output).not.toMatch(secretPart)
    expect(output).toContain('[secret]')
    expect(maskSecrets(text)).not.toMatch(secretPart)
  })

  test("masks in a time that grows with the length only: a path is a stranger's text, and every line is searched", () => {
    for (const hostile of [`http://${'a:'.repeat(50_000)}`, 'Bearer '.repeat(20_000), 'whsec_'.repeat(20_000)]) {
      const began = performance.now()
      maskSecrets(hostile)
      // Milliseconds. A quadratic search, which tries each colon with all text after it, would take seconds.
      expect(performance.now() - began).toBeLessThan(500)
    }
  })

  test('prints a Secret as [secret]', () => {
    expect(logged(logger => logger.info({ config: { KEY: new Secret('canary') } }, 'started'))).toContain(
      '"KEY":"[secret]"',
    )
  })

  test('is one JSON object a line with service, level by name and time', () => {
    const line = JSON.parse(logged(logger => logger.warn({ id: 1 }, 'thing.done'))) as Record<string, unknown>
    expect(line).toMatchObject({ service: 'test', level: 'warn', id: 1, msg: 'thing.done' })
    expect(String(line.time)).toMatch(/^\d{4}-\d\d-\d\dT/)
  })

  test('cannot be given a second line from outside', () => {
    expect(
      logged(logger => logger.info({ name: 'a\n{"forged":true}' }, 'b\nc'))
        .trim()
        .split('\n'),
    ).toHaveLength(1)
  })
})

test('every line is on standard output when the process has ended, in order, however it was ended from within', () => {
  const url = new URL('./logger.ts', import.meta.url).href
  const script = `
    import { createLogger } from '${url}'
    const logger = createLogger('test', 'info')
    for (let line = 0; line < 20000; line++) logger.info({ line }, 'line')
    logger.fatal('the end')
    process.exit(1)
  `
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  })
  const lines = stdout.trimEnd().split('\n')
  expect(status).toBe(1)
  expect(lines).toHaveLength(20_001)
  expect(lines.slice(0, -1).map(line => JSON.parse(line).line)).toEqual(
    Array.from({ length: 20_000 }, (_, line) => line),
  )
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'fatal', msg: 'the end' })
})

/** Returns the arguments that run a script with `logger` in a separate process. */
function nodeArguments(body: string): string[] {
  const url = new URL('./logger.ts', import.meta.url).href
  return [
    '--input-type=module',
    '--eval',
    `import { createLogger } from '${url}'\nconst logger = createLogger('test', 'info')\n${body}`,
  ]
}

test('lines that were dropped because the log was not read are reported once when it is read again', async () => {
  // Writes 24 MiB at once, of which 8 MiB may wait. The line after the gap states the number of missing lines.
  const child = spawn(
    process.execPath,
    nodeArguments(`for (let line = 0; line < 24; line++) logger.info({ line, fill: 'x'.repeat(1048576) }, 'line')`),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines = (await text(child.stdout))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const written = lines.filter(({ msg }) => msg === 'line')
  expect(written.length).toBeLessThan(24)
  expect(lines.slice(written.length)).toEqual([
    expect.objectContaining({ level: 'error', service: 'test', msg: 'log.lines_dropped', lines: 24 - written.length }),
  ])
})

test('a log that cannot be written, as the disk is full, does not end the process', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(
    process.execPath,
    nodeArguments(`
      logger.info('line')
      setTimeout(() => logger.info('another'), 50)
      setTimeout(() => { process.stderr.write('lives'); process.exitCode = 7 }, 500)
    `),
    { stdio: ['ignore', full, 'pipe'], encoding: 'utf8', timeout: 10_000 },
  )
  expect(stderr).toContain('lives')
  expect(status).toBe(7)
})
