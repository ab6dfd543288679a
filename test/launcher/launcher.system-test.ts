/** The messages and actions of `npm start` when something fails during the start. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { until } from '@backstop/kit/test'
import { afterEach, describe, expect, test } from 'vitest'
import { dataFolder, givenStack } from '../setup/product.ts'
import { type LauncherUnderTest, startLauncher } from './launcher-under-test.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Starts the launcher. @param name of the data folder and of the database; two starts with the same name share both */
function launch(name: string, ...options: string[]): LauncherUnderTest {
  const given = {
    ...givenStack(),
    BACKSTOP_TEST_TOPIC_PREFIX: `${name}-${process.pid}.`,
    RECHECK_DELAY_MS: '1000',
  }
  const launcher = startLauncher(dataFolder(name), given, ...options)
  cleanUps.push(() => launcher.stop())
  return launcher
}

/** Starts a foreign server on the port. It answers 200 to every request. */
async function occupy(port: number): Promise<void> {
  const server: Server = createServer((_request, response) => response.end('ok'))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  cleanUps.push(() => server.close().closeAllConnections())
}

/** The most memory that a process has had, from the kernel's own count. */
function peakMemoryMb(pid: number | undefined): number {
  const kb = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb) / 1_000
}

function readPorts(dataDir: string): Record<string, number> | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8'))
  } catch {
    return undefined
  }
}

// The second test begins with what the first one leaves, so a retry of it would not.
describe('a data folder whose ports were taken', { retry: 0 }, () => {
  let admin: string

  test('takes other ports when other processes take the ports of two services after they were chosen', async () => {
    const launcher = launch('taken-ports', '--no-demo')
    const ports = await until('the chosen ports', () => readPorts(launcher.dataDir), { timeoutMs: 60_000, everyMs: 1 })
    const taken = ['ingress-ops', 'admin-api'].map(name => ({ name, port: ports[name] as number }))
    await Promise.all(taken.map(({ port }) => occupy(port)))
    await launcher.prints(/Stopped|Backstop runs/)
    for (const { name, port } of taken) {
      const service = name.replace('-ops', '')
      expect(launcher.output()).toMatch(
        new RegExp(`${service}: another process took port ${port}.*${service}: ready`, 's'),
      )
      expect(readPorts(launcher.dataDir)?.[name]).not.toBe(port)
    }
    expect(launcher.output()).toContain('Backstop runs.')
    expect(launcher.output(), 'the version and the commit come first').toMatch(
      /^[^✓]*Backstop \d+\.\d+\.\d+(?:-dev)?\+g[0-9a-f]{7,12}\b/,
    )
    ;({ admin } = launcher.run())
    const { key } = launcher.run()
    const answer = await fetch(`${admin}/v1/projects`, { headers: { authorization: `Bearer ${key}` } })
    expect(answer.status).toBe(200)
  })

  test('runs on, and names the recovery command, when the database does not know the key of secrets.json', async () => {
    rmSync(join(dataFolder('taken-ports'), 'secrets.json'))

    const launcher = launch('taken-ports')
    await launcher.prints(/npx backstop keys recover/)
    await launcher.prints(/Backstop runs\./)
    expect(launcher.output()).not.toContain('rm -r')
    expect(launcher.run().admin).toBe(admin)
  })
})

// A retry would begin with what the failed try has changed.
describe('a data folder that is started again', { retry: 0 }, () => {
  const launchAgain = () => launch('again')
  const dataDir = dataFolder('again')
  const demo = () => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
  const headersOf = ({ key }: { key: string }) => ({
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
  })

  const accountUrl = (launcher: LauncherUnderTest) => {
    const { project_id, connection_id } = demo()
    return `${launcher.run().admin}/v1/projects/${project_id}/connections/${connection_id}`
  }

  test('reports and restarts services that die during the start: before they are ready, and after', async () => {
    const launcher = launchAgain()
    const early = await launcher.service('notifier')
    process.kill(early.pid, 'SIGKILL')
    await launcher.prints(/notifier was ended by SIGKILL\n[^✗]*Its log: .*notifier\.log/, 20_000)
    // Stopped, so that the start is not complete when ingress dies.
    const notifier = await until('another notifier', async () => {
      const running = await launcher.service('notifier')
      return running.pid === early.pid ? undefined : running
    })
    process.kill(notifier.pid, 'SIGSTOP')
    await launcher.prints(/ingress: ready/)
    const ingress = await launcher.service('ingress')
    process.kill(ingress.pid, 'SIGKILL')
    await launcher.prints(/ingress was ended by SIGKILL\n[^✗]*Its log: .*ingress\.log/, 20_000)
    await launcher.prints(/ingress runs again/)
    process.kill(notifier.pid, 'SIGCONT')
    await launcher.prints(/notifier: ready.*First alert .*Backstop runs\./s)
    const answer = await fetch(`${launcher.run().ingress}/v1/webhooks/processor/con_none`, { method: 'POST' })
    expect(answer.status).toBeGreaterThanOrEqual(400)

    // For the next test.
    const set = await fetch(accountUrl(launcher), {
      method: 'PATCH',
      headers: headersOf(launcher.run()),
      body: JSON.stringify({ out_of_band: 'ignore' }),
    })
    expect(set.status).toBe(200)
  })

  test('keeps the out_of_band that a person has set for the demo account, and says that it sends no alerts', async () => {
    const launcher = launchAgain()
    await launcher.prints(/Backstop runs\./)
    const account = await fetch(accountUrl(launcher), { headers: headersOf(launcher.run()) })
    expect(await account.json()).toMatchObject({ out_of_band: 'ignore' })
    expect(launcher.output()).toMatch(/out_of_band was set to ignore.*docs\/first-steps\.md.*Backstop runs\./s)
  })

  test('starts a new demo, up to its first alert, after the secret keys were replaced, in less than 150 MB', async () => {
    const { connection_id: before } = demo()
    const path = join(dataDir, 'secrets.json')
    const secretKeys = `other:${Buffer.alloc(32, 1).toString('base64')},local:lost`
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), secretKeys }))

    const launcher = launchAgain()
    await launcher.prints(/First alert .*Backstop runs\./s)
    expect(peakMemoryMb(launcher.child.pid)).toBeLessThan(150)
    expect(demo().connection_id).not.toBe(before)

    // For the next test.
    const { admin } = launcher.run()
    const headers = headersOf(launcher.run())
    const other = { name: 'Other', scopes: ['admin'] }
    const made = await fetch(`${admin}/v1/api-keys`, { method: 'POST', headers, body: JSON.stringify(other) })
    expect(made.status).toBe(201)
    const revoked = await fetch(`${admin}/v1/api-keys/key_bootstrap`, { method: 'DELETE', headers })
    expect(revoked.status).toBe(204)
  })

  test('runs on, and names the recovery command, when the key of secrets.json was revoked', async () => {
    const launcher = launchAgain()
    await launcher.prints(/refuses the API key.*npx backstop keys recover --no-expiry/s)
    await launcher.prints(/Backstop runs\./)
    expect(launcher.output()).not.toContain('rm -r')
  })
})
