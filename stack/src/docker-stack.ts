import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StackRecordFile } from './part-records.ts'
import { registryUrl } from './parts/registry.ts'
import { choosePorts, isPortFree } from './ports.ts'
import { runProgram } from './run-program.ts'
import type { PartHandle, PartName, PortName, StackOptions, StackUrls } from './stack-contract.ts'

const COMPOSE_FILE = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url))
/** Time limit of a start, in milliseconds. The first start downloads images. */
const UP_TIMEOUT_MS = 600_000

/** The variables that set the host's ports in docker-compose.yml. */
const PORT_VARIABLES = {
  kafka: 'KAFKA_PORT',
  mongo: 'MONGO_PORT',
  registry: 'REGISTRY_PORT',
  smtp: 'SMTP_PORT',
  mail: 'MAIL_PORT',
} as const satisfies Partial<Record<PortName, string>>

type DockerPort = keyof typeof PORT_VARIABLES

/** Runs `docker compose` in one project. */
type Compose = (...args: string[]) => Promise<string>

/** True if a Docker engine with Compose answers within 3 s, and no setting forbids its use. */
export async function dockerIsUsable(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (env.BACKSTOP_STACK === 'embedded' || !existsSync(COMPOSE_FILE)) return false
  try {
    await runProgram('docker', ['info', '--format', '{{.ServerVersion}}'], { timeoutMs: 3000, env })
    await runProgram('docker', ['compose', 'version'], { timeoutMs: 3000, env })
    return true
  } catch {
    return false
  }
}

/**
 * Starts the named services of docker-compose.yml in a Compose project of this data folder. Running containers stay.
 * Known gap: containers keep running after a kill -9 of the launcher, because the reaper ends processes only. The next
 * start reuses them.
 */
export async function startDockerStack(
  names: readonly PartName[],
  options: StackOptions,
): Promise<{ urls: Partial<StackUrls>; parts: Partial<Record<PartName, PartHandle>>; stop(): Promise<void> }> {
  const records = new StackRecordFile(options.dataDir)
  const project = projectName(options.dataDir)
  const running = (await composeFor(project, options.env)('ps', '--services', '--status', 'running')).split('\n')
  const ports = await assignPorts(
    records,
    options,
    names.some(name => running.includes(name)),
  )
  const portVariables = Object.fromEntries(
    Object.entries(PORT_VARIABLES).map(([port, variable]) => [variable, String(ports[port as DockerPort])]),
  )
  const compose = composeFor(project, { ...options.env, ...portVariables })
  const step = options.log.step('Docker')
  step.update(`starting ${names.join(', ')}`)
  try {
    await compose('up', '-d', '--wait', ...names)
  } catch (error) {
    step.fail('the containers did not start', '')
    await compose('stop', '-t', '6', ...names).catch(() => {})
    throw error
  }
  records.change(record => {
    record.dockerProject = project
  })
  step.done('up')
  return {
    urls: urlsOf(names, ports),
    parts: Object.fromEntries(names.map(name => [name, containerHandle(name, compose, running.includes(name))])),
    stop: async () => {
      if (!options.keepRunning) await compose('stop', '-t', '6', ...names)
    },
  }
}

/** Stops the containers of a data folder's stack. Returns false if the folder has no containers. */
export async function stopDockerProject(dataDir: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const records = new StackRecordFile(dataDir)
  const { dockerProject } = records.read()
  if (dockerProject === undefined) return false
  await composeFor(dockerProject, env)('stop', '-t', '6')
  records.change(record => {
    delete record.dockerProject
  })
  return true
}

function projectName(dataDir: string): string {
  return `backstop-${createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 8)}`
}

function composeFor(project: string, env: NodeJS.ProcessEnv): Compose {
  return async (...args) => {
    const { stdout } = await runProgram('docker', ['compose', '-p', project, '-f', COMPOSE_FILE, ...args], {
      timeoutMs: UP_TIMEOUT_MS,
      env,
    })
    return stdout
  }
}

/** Chooses the ports. Ports that are in use by the stack's own running containers are kept. */
async function assignPorts(
  records: StackRecordFile,
  { ports: wanted = {} }: StackOptions,
  areUp: boolean,
): Promise<Record<DockerPort, number>> {
  const { ports: remembered } = records.read()
  const names = Object.keys(PORT_VARIABLES) as DockerPort[]
  const wishes = Object.fromEntries(names.map(name => [name, { wanted: wanted[name], remembered: remembered[name] }]))
  const ours = new Set(areUp ? Object.values(remembered) : [])
  const ports = (await choosePorts(wishes, async port => ours.has(port) || (await isPortFree(port)))) as Record<
    DockerPort,
    number
  >
  records.change(record => {
    record.ports = { ...record.ports, ...ports }
  })
  return ports
}

function containerHandle(name: PartName, compose: Compose, adopted: boolean): PartHandle {
  return {
    pid: undefined,
    adopted,
    lastLogLines: () => [],
    // Not awaited, like a signal to a process: the caller waits for its effect.
    kill: signal => void compose('kill', '-s', signal, name).catch(() => {}),
    restart: async () => {
      await compose('stop', '-t', '6', name)
      await compose('up', '-d', '--wait', name)
    },
    stop: async () => {
      await compose('stop', '-t', '6', name)
    },
  }
}

function urlsOf(names: readonly PartName[], ports: Record<DockerPort, number>): Partial<StackUrls> {
  return {
    ...(names.includes('kafka') && { kafka: `127.0.0.1:${ports.kafka}` }),
    // The replica-set member has a host name that this machine cannot resolve, so the connection is direct.
    ...(names.includes('mongo') && { mongo: `mongodb://127.0.0.1:${ports.mongo}/?directConnection=true` }),
    ...(names.includes('registry') && { registry: registryUrl(ports.registry) }),
    ...(names.includes('mail') && { smtp: `smtp://127.0.0.1:${ports.smtp}`, mail: `http://127.0.0.1:${ports.mail}` }),
  }
}
