/**
 * Builds the images from this tree and runs the demo of docker-compose.yml, with the real recheck delay of one minute.
 * `npm run test:docker` runs this test. It has its own project name and ports, so it can run beside other projects.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { AlertChannel } from '@backstop/channels'
import type { Connection, Incident } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { createCardProcessor, createWebhookEndpoint } from '@backstop/simulator'
import {
  DockerComposeEnvironment,
  getContainerRuntimeClient,
  RandomPortGenerator,
  type StartedDockerComposeEnvironment,
  Wait,
} from 'testcontainers'
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest'
import { createManagementApi, type ManagementApi } from '../../scripts/start/management-api.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PROJECT = `backstop-test-${process.pid}`
const MINUTE_MS = 60_000
/** The longest delay of an alert after the second look is due, on a busy machine. */
const SLACK_MS = 20_000
/** The longest time to build our images and to pull the other images. */
const UP_WITHIN_MS = 1_800_000
const DOWN_WITHIN_MS = 180_000
const PORTS = [
  'INGRESS_PORT',
  'ADMIN_PORT',
  'KAFKA_PORT',
  'MONGO_PORT',
  'REGISTRY_PORT',
  'MAIL_PORT',
  'SMTP_PORT',
] as const

const scratch = mkdtempSync(join(tmpdir(), 'backstop-docker-test-'))
let environment: StartedDockerComposeEnvironment
let api: ManagementApi
let mailUrl: string

beforeAll(async () => {
  await requireEngine()
  const ports = await freePorts()
  const secrets = join(scratch, 'secrets')
  execFileSync(join(ROOT, 'deploy/compose/create-secrets.sh'), [secrets], { cwd: scratch })
  const key = readFileSync(join(secrets, 'BOOTSTRAP_API_KEY'), 'utf8').trim()
  environment = await composeEnvironment({
    ...ports,
    SECRET_FILES: secrets,
    INGRESS_PUBLIC_URL: `http://127.0.0.1:${ports.INGRESS_PORT}`,
    // Empty, so that settings of the shell, such as a real mail server, do not affect the test.
    SMTP_FROM: '',
    RECHECK_DELAY_MS: '',
  }).up()
  api = createManagementApi(`http://127.0.0.1:${ports.ADMIN_PORT}`, key)
  mailUrl = `http://127.0.0.1:${ports.MAIL_PORT}`
}, UP_WITHIN_MS)

afterAll(async () => {
  // Undefined if the start failed. In that case the containers are already removed.
  await (environment as typeof environment | undefined)?.down({ removeVolumes: true })
  rmSync(scratch, { recursive: true })
}, DOWN_WITHIN_MS)

/** @throws Error with the remedy if there is no container engine, so that a test fails if it cannot run */
async function requireEngine(): Promise<void> {
  try {
    await getContainerRuntimeClient()
  } catch (cause) {
    throw new Error('No container engine answers: start Docker (with Compose 2), or name it by DOCKER_HOST', { cause })
  }
}

async function freePorts(): Promise<Record<(typeof PORTS)[number], string>> {
  const generator = new RandomPortGenerator()
  const free: Partial<Record<(typeof PORTS)[number], string>> = {}
  for (const name of PORTS) free[name] = String(await generator.generatePort())
  return free as Required<typeof free>
}

function composeEnvironment(settings: Record<string, string>): DockerComposeEnvironment {
  // This file is used instead of an .env in the project folder.
  const dotEnv = join(scratch, '.env')
  writeFileSync(dotEnv, '')
  return new DockerComposeEnvironment(ROOT, 'docker-compose.yml')
    .withProjectName(PROJECT)
    .withEnvironmentFile(dotEnv)
    .withEnvironment(settings)
    .withProfiles('demo')
    .withBuild()
    .withWaitStrategy('demo-1', Wait.forLogMessage(/^Demo: /))
    .withStartupTimeout(MINUTE_MS)
}

function showLogsOnFailure(): void {
  onTestFailed(() => {
    const args = ['compose', '--project-name', PROJECT, 'logs', '--no-color', '--tail', '60']
    process.stderr.write(execFileSync('docker', args, { encoding: 'utf8' }))
  })
}

const incidentsOf = async (projectId: string) =>
  (await api.get<{ data: Incident[] }>(`/v1/incidents?project_id=${projectId}`)).data

describe.concurrent('the composed product', { timeout: 4 * MINUTE_MS }, () => {
  test('runs the demo: the explained refund does not alert, the other one alerts a minute later, signed', async () => {
    showLogsOnFailure()
    // The demo exits at its first alert, which ends the log.
    const story = await text(await environment.getContainer('demo-1').logs())
    const [, seconds] = /^First alert ([\d.]+) s after the refund$/m.exec(story) ?? []
    expect(Number(seconds), story).toBeGreaterThanOrEqual(MINUTE_MS / 1000)
    expect(Number(seconds), story).toBeLessThan((MINUTE_MS + SLACK_MS) / 1000)
    expect(story).toMatch(/delivered +incident\.opened to .*: X-Service-Signature valid, webhook-signature valid/)
    const [, projectId = ''] = /project (prj_\w+)/.exec(story) ?? []
    expect(await incidentsOf(projectId)).toMatchObject([{ code: 'UNEXPECTED_ACTION', state: 'open' }])
  })

  test('accepts events at its published port, and mails the alert about an unexplained refund a minute later', async () => {
    showLogsOnFailure()
    const to = 'ops@example.com'
    const { project_id } = await api.post<{ project_id: string }>('/v1/projects', { name: 'Shop' })
    const connection = await api.post<Connection & { signing_secret: string }>(
      `/v1/projects/${project_id}/connections`,
      { kind: 'processor', name: 'Cards', out_of_band: 'alert' },
    )
    const events = ['incident.opened']
    await api.post<AlertChannel>('/v1/alert-channels', {
      project_id,
      name: 'Mail',
      events,
      config: { kind: 'email', to: [to] },
    })
    const processor = createCardProcessor({ now: Date.now })
    const { inbound_url: url, signing_secret } = connection
    const endpoint = createWebhookEndpoint({
      url,
      credential: { kind: 'processor', secrets: [signing_secret] },
      now: Date.now,
    })
    endpoint.follow(processor)
    const { charge } = processor.createPayment({ amount: 5_000, currency: 'eur' })
    const refund = processor.refund({ charge: charge.id, amount: 2_499 })
    const madeAtMs = Date.now()

    const mail = await until('the mail', async () => (await caughtMails(to))[0], {
      timeoutMs: MINUTE_MS + SLACK_MS,
      everyMs: 100,
    })
    expect(Date.now() - madeAtMs).toBeGreaterThanOrEqual(MINUTE_MS)
    expect(mail.subject).toMatch(/^\[Backstop\] Unexplained refund of EUR 24\.99( ·|$)/)
    expect(mail.text).toContain(refund.id)
    expect(endpoint.attempts().map(({ status }) => status)).not.toContain(null)
    expect(await incidentsOf(project_id)).toMatchObject([{ code: 'UNEXPECTED_ACTION', state: 'open' }])
    expect(await caughtMails(to)).toHaveLength(1)
    await endpoint.stop()
  })
})

interface CaughtMail {
  readonly subject: string
  readonly text: string
  readonly to: readonly { readonly address: string }[]
}

async function caughtMails(to: string): Promise<CaughtMail[]> {
  const mails = (await (await fetch(`${mailUrl}/api/email`)).json()) as CaughtMail[]
  return mails.filter(mail => mail.to.some(({ address }) => address === to))
}
