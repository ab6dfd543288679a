/** Runs the code of docs/webhook-code against real deliveries, in each language installed on this machine. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { CHANNEL_MODULES, noMailer } from '@backstop/channels/deliver'
import { secretBox, testRequest, type WebhookFacts, webhookChannel as webhookDocument } from '@backstop/channels/test'
import { type Clock, systemClock } from '@backstop/kit/clock'
import { createManualClock, type ReceivedRequest, startReceiver } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLoopbackEgress } from './real-receivers.ts'

const CODE = join(import.meta.dirname, '../../../docs/webhook-code')
const RUNNERS = join(import.meta.dirname, 'webhook-code')

interface Language {
  readonly name: string
  /** The file of the code, and the program that calls it with a delivery. */
  readonly files: readonly [code: string, runner: string]
  /** Required programs. Node.js and Python are always present, because the project itself needs them. */
  readonly needs: readonly string[]
  readonly compile?: readonly string[]
  readonly run: readonly string[]
}

const LANGUAGES: readonly Language[] = [
  { name: 'JavaScript', files: ['webhooks.mjs', 'run.mjs'], needs: ['node'], run: ['node', 'run.mjs'] },
  { name: 'Python', files: ['webhooks.py', 'run.py'], needs: ['python3'], run: ['python3', 'run.py'] },
  {
    name: 'Go',
    files: ['webhooks.go', 'run.go'],
    needs: ['go'],
    compile: ['go', 'build', '-o', 'run', 'webhooks.go', 'run.go'],
    run: ['./run'],
  },
  {
    name: 'Java',
    files: ['Webhooks.java', 'Run.java'],
    // The Java runtime of the test stack has no compiler.
    needs: ['javac', 'java'],
    compile: ['javac', 'Webhooks.java', 'Run.java'],
    run: ['java', '-XX:TieredStopAtLevel=1', 'Run'],
  },
  { name: 'PHP', files: ['webhooks.php', 'run.php'], needs: ['php'], run: ['php', 'run.php'] },
]

const folder = mkdtempSync(join(tmpdir(), 'backstop-webhook-code-'))
const egress = createLoopbackEgress()
afterAll(async () => {
  await egress.stop()
  rmSync(folder, { recursive: true, force: true })
})

const SECRET = 'whsec_bmV3LXNlY3JldC1vZi0yNC1ieXRlcw=='
const OTHER = 'just some words: ü!'

/** The request that a receiver gets for a delivery made at the clock's time. */
async function captureRequest(given: WebhookFacts, clock: Clock): Promise<ReceivedRequest> {
  const receiver = await startReceiver()
  const channel = webhookDocument('chn_1', receiver.url, given)
  const ports = { mailer: noMailer, secretBox, publicUrl: null, brandName: 'Backstop', apiPublicUrl: null }
  const project = { branding: {}, timeZone: 'UTC', suppressed: new Map() }
  await CHANNEL_MODULES.webhook.deliver(
    channel,
    testRequest('chn_1'),
    { ...ports, egress, clock, attemptMs: 5_000 },
    project,
  )
  await receiver.stop()
  const [request] = receiver.requests
  if (request === undefined) throw new Error('Nothing was delivered')
  return request
}

type RequestChange = (request: ReceivedRequest) => ReceivedRequest
const withHeader =
  (name: string, value: string | undefined): RequestChange =>
  request => {
    const { [name]: _before, ...rest } = request.headers
    return { ...request, headers: value === undefined ? rest : { ...rest, [name]: value } }
  }
const tampered: RequestChange = request => ({
  ...request,
  body: Buffer.from(String(request.body).replace('test', 'tost')),
})
const asItIs: RequestChange = request => request

const overlapping = { secret: SECRET, previous: { secret: OTHER, expiresAt: new Date(Date.now() + 3_600_000) } }
const hourAgo = () => createManualClock(Date.now() - 3_600_000)
const inAnHour = () => createManualClock(Date.now() + 3_600_000)

interface Row {
  name: string
  given: WebhookFacts
  clock?: () => Clock
  change?: RequestChange
  check?: 'verify' | 'verifyBody'
  with: string
  authentic: boolean
}

const rows: Row[] = [
  { name: 'a delivery', given: { secret: SECRET }, with: SECRET, authentic: true },
  { name: 'one whose secret is words', given: { secret: OTHER }, with: OTHER, authentic: true },
  { name: 'one by a secret without padding', given: { secret: 'whsec_AQIDBA' }, with: 'whsec_AQIDBA', authentic: true },
  { name: 'one in a rotation, by the new secret', given: overlapping, with: SECRET, authentic: true },
  { name: 'one in a rotation, by the old secret', given: overlapping, with: OTHER, authentic: true },
  { name: 'one by another secret', given: { secret: SECRET }, with: OTHER, authentic: false },
  { name: 'a tampered body', given: { secret: SECRET }, change: tampered, with: SECRET, authentic: false },
  {
    name: 'another id',
    given: { secret: SECRET },
    change: withHeader('webhook-id', 'dlv_2'),
    with: SECRET,
    authentic: false,
  },
  { name: 'one of an hour ago', given: { secret: SECRET }, clock: hourAgo, with: SECRET, authentic: false },
  { name: 'one from the future', given: { secret: SECRET }, clock: inAnHour, with: SECRET, authentic: false },
  {
    name: 'an old one with a new time',
    given: { secret: SECRET },
    clock: hourAgo,
    change: withHeader('webhook-timestamp', String(Math.floor(Date.now() / 1000))),
    with: SECRET,
    authentic: false,
  },
  {
    name: 'no time',
    given: { secret: SECRET },
    change: withHeader('webhook-timestamp', undefined),
    with: SECRET,
    authentic: false,
  },
  {
    name: 'a time in words',
    given: { secret: SECRET },
    change: withHeader('webhook-timestamp', 'now'),
    with: SECRET,
    authentic: false,
  },
  { name: 'no signature', given: {}, with: SECRET, authentic: false },
  {
    name: 'garbage as signature',
    given: { secret: SECRET },
    change: withHeader('webhook-signature', 'v1, v1,ü v2,AAAA'),
    with: SECRET,
    authentic: false,
  },
  { name: 'a body', given: { secret: SECRET }, check: 'verifyBody', with: SECRET, authentic: true },
  {
    name: 'a body in a rotation, by the new secret',
    given: overlapping,
    check: 'verifyBody',
    with: SECRET,
    authentic: true,
  },
  {
    name: 'a body in a rotation, by the old secret',
    given: overlapping,
    check: 'verifyBody',
    with: OTHER,
    authentic: true,
  },
  {
    name: 'a body in a rotation, by a third secret',
    given: overlapping,
    check: 'verifyBody',
    with: 'neither of both',
    authentic: false,
  },
  {
    name: 'a tampered body alone',
    given: { secret: SECRET },
    change: tampered,
    check: 'verifyBody',
    with: SECRET,
    authentic: false,
  },
  { name: 'a body without signature', given: {}, check: 'verifyBody', with: SECRET, authentic: false },
]

for (const language of LANGUAGES) {
  const absent = language.needs.filter(program => findProgram(program) === undefined)
  describe(`the ${language.name} of docs/webhook-code`, () => {
    if (absent.length > 0) {
      const words = `is not run here: no ${absent.join(' and no ')}`
      process.stderr.write(`\ndocs/webhook-code: the ${language.name} ${words} on the PATH\n`)
      test.skip(words, () => {})
      return
    }
    let verdicts: string[] = []
    // All deliveries in one run, because starting a language takes most of the time.
    beforeAll(async () => {
      verdicts = runVerifier(language, await Promise.all(rows.map(writeDelivery)))
    })
    test.each(rows.map((row, index) => ({ ...row, index })))('takes $name for authentic: $authentic', row => {
      expect(verdicts[row.index]).toMatch(row.authentic ? /^authentic$/ : /^refused: ./)
    })
    test('says one word of each', () => expect(verdicts).toHaveLength(rows.length))
  })
}

test('the folder has the code of the five languages', () => {
  expect(readdirSync(CODE).sort()).toEqual(LANGUAGES.map(({ files: [code] }) => code).sort())
})

test('the languages that the project needs are tested', () => {
  for (const program of ['node', 'python3']) expect(findProgram(program), program).toBeDefined()
})

/** Writes a file with the headers and the body of a delivery, as received or changed by an attacker. */
async function writeDelivery(
  { given, clock = () => systemClock, change = asItIs }: Row,
  index: number,
): Promise<string> {
  const { headers, body } = change(await captureRequest(given, clock()))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const file = join(folder, `${index}.http`)
  writeFileSync(file, Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]))
  return file
}

/** Runs the code sample on these deliveries. @returns its verdicts, in order */
function runVerifier({ files: [code, runner], compile, run }: Language, deliveries: readonly string[]): string[] {
  copyFileSync(join(CODE, code), join(folder, code))
  copyFileSync(join(RUNNERS, runner), join(folder, runner))
  if (compile !== undefined) runProgram(compile)
  const args = rows.flatMap(({ check = 'verify', with: secret }, index) => [check, secret, deliveries[index] ?? ''])
  return runProgram([...run, ...args])
    .trimEnd()
    .split(/\r?\n/)
}

function runProgram([program = '', ...args]: readonly string[]): string {
  const path = program.startsWith('./') ? program : (findProgram(program) ?? program)
  const { status, stdout, stderr, error } = spawnSync(path, args, {
    cwd: folder,
    // Go compiles its library first, which takes minutes beside other tests.
    // UTF-8, because a secret may contain any character and arguments are read in the machine's encoding.
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${error ?? stderr}`)
  return String(stdout)
}

function findProgram(name: string): string | undefined {
  if (name === 'node') return process.execPath
  const folders = [join(process.env.JAVA_HOME ?? '', 'bin'), ...(process.env.PATH ?? '').split(delimiter)]
  return folders.map(one => join(one, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
