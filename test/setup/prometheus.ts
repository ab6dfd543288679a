/** A real Prometheus that scrapes services and evaluates the rules of deploy/monitoring. */
import { spawn } from 'node:child_process'
import { createWriteStream, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, join, resolve } from 'node:path'
import { until } from '@backstop/kit/test'
import { parse, stringify } from 'yaml'
import { findPrometheus } from '../monitoring/find-prometheus.ts'

const RULES = resolve(import.meta.dirname, '../../deploy/monitoring/rules')

export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface TestPrometheus {
  readonly url: string
  firing(): Promise<FiringAlert[]>
  /** Resolves with the first firing alert of this name. */
  untilFiring(name: string, withinMs: number): Promise<FiringAlert>
  /** The values of an expression. */
  query(expr: string): Promise<{ readonly metric: Record<string, string>; readonly value: number }[]>
  stop(): Promise<void>
}

/**
 * Starts Prometheus. It scrapes and evaluates every second, and an alert fires without the time for which its fault must last, so that a
 * test need not wait for minutes.
 * @param folder for its data and log
 */
export async function startPrometheus(targets: readonly string[], folder: string): Promise<TestPrometheus> {
  mkdirSync(join(folder, 'rules'), { recursive: true })
  for (const path of globSync(`${RULES}/*.yaml`))
    writeFileSync(join(folder, 'rules', basename(path)), withoutWaiting(path))
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(folder, 'rules/*.yaml')],
    scrape_configs: [{ job_name: 'backstop', static_configs: [{ targets: targets.map(url => new URL(url).host) }] }],
  }
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config))
  const address = `127.0.0.1:${await freePort()}`
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ]
  const child = spawn(findPrometheus(process.env).prometheus, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr.pipe(createWriteStream(join(folder, 'prometheus.log')))
  const ended = new Promise<void>(done => child.once('exit', () => done()))
  const url = `http://${address}`
  const get = async <T>(path: string) => ((await (await fetch(`${url}${path}`)).json()) as { data: T }).data
  await until(
    'Prometheus to be ready',
    async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true,
    {
      timeoutMs: 30_000,
    },
  )

  async function firing(): Promise<FiringAlert[]> {
    const { alerts } = await get<{ alerts: (FiringAlert & { state: string })[] }>('/api/v1/alerts')
    return alerts.filter(({ state }) => state === 'firing')
  }
  return {
    url,
    firing,
    async untilFiring(name, withinMs) {
      let seen: string[] = []
      return until(
        `the alert ${name}`,
        async () => {
          const all = await firing()
          seen = all.map(({ labels }) => labels.alertname ?? '')
          return all.find(({ labels }) => labels.alertname === name)
        },
        { timeoutMs: withinMs, everyMs: 500, seen: () => seen },
      )
    },
    async query(expr) {
      const path = `/api/v1/query?query=${encodeURIComponent(expr)}`
      const { result } = await get<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(path)
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }))
    },
    async stop() {
      child.kill()
      await ended
    },
  }
}

function withoutWaiting(path: string): string {
  const file = parse(readFileSync(path, 'utf8')) as { groups: { rules: { for?: string }[] }[] }
  for (const { rules } of file.groups) for (const rule of rules) delete rule.for
  return stringify(file, { lineWidth: 0 })
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer()
    server.once('error', fail)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
