import { readFileSync } from 'node:fs'
import { createLogger, createMetrics, type Egress, type EgressConfig, egressReason, openEgress } from '@backstop/kit'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { KNOWN_SETTINGS } from '../../packages/provision/src/known-settings.ts'
import { settingFault } from '../../packages/provision/src/settings-file.ts'
import { PREFIXED, READERS, SAMPLE_SECRETS, settingOf } from './readers.ts'

interface Service {
  image: string
  build?: { target: string }
  profiles?: string[]
  ports?: string[]
  environment?: Record<string, string | number>
  // biome-ignore lint/suspicious/noExplicitAny: read field by field
  [field: string]: any
}

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const source = text('docker-compose.yml')
const { services } = parse(source, { merge: true }) as { services: Record<string, Service> }
const dockerfile = text('Dockerfile')

const THIRD_PARTY = ['kafka', 'mongo', 'registry', 'mail']
const OURS = ['ingress', 'reconciler', 'notifier', 'admin-api', 'provision', 'demo']
/** The content of the .env that the command at the top of docker-compose.yml writes. */
const DOT_ENV = { SECRET_KEYS: SAMPLE_SECRETS.SECRET_KEYS, BOOTSTRAP_API_KEY: SAMPLE_SECRETS.BOOTSTRAP_API_KEY }

/** Replaces variables as Compose does, in the two forms that docker-compose.yml uses. */
function interpolate(value: string, env: Record<string, string | undefined>): string {
  return value.replaceAll(/\$\{([A-Z_]+):([-+])([^}]*)\}/g, (_, name: string, form: string, text: string) =>
    form === '-' ? env[name] || text : env[name] ? text : '',
  )
}

function environmentOf(service: string, env: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries(services[service]?.environment ?? {})
  return Object.fromEntries(entries.map(([name, value]) => [name, interpolate(String(value), env)]))
}

test('has our services, and the four whose names the stack launcher uses', () => {
  expect(Object.keys(services).sort()).toEqual([...OURS, ...THIRD_PARTY].sort())
  for (const name of THIRD_PARTY) expect(services[name]).not.toHaveProperty('profiles')
})

test('starts the four without .env, because no variable in the file is required', () => {
  expect(source.replaceAll(/^ *#.*$/gm, '')).not.toMatch(/\$\{[A-Z_]+(?::?\?|\})/)
})

test('publishes ports on loopback only', () => {
  const ports = Object.values(services).flatMap(service => service.ports ?? [])
  expect(ports.length).toBeGreaterThan(5)
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{[A-Z_]+:-\d+\}:\d+$/)
})

test('gives our containers a read-only root, and no container new privileges or capabilities that it does not need', () => {
  for (const name of OURS) {
    expect(services[name], name).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  }
  for (const [name, service] of Object.entries(services)) {
    expect(service.cap_drop, name).toEqual(['ALL'])
    if (name !== 'mongo') expect(service, name).not.toHaveProperty('cap_add')
    expect(service.security_opt, name).toEqual(['no-new-privileges:true'])
    expect(service, name).not.toHaveProperty('privileged')
  }
})

test.each(['ingress', 'reconciler', 'notifier', 'admin-api', 'provision'])('%s starts with its environment', name => {
  const { names = [], read } = READERS[name] ?? {}
  const environment = environmentOf(name, DOT_ENV)
  expect(Object.keys(environment).filter(variable => !names.includes(variable))).toEqual([])
  read?.(environment)
})

describe('a setting in .env', () => {
  /** Settings that docker-compose.yml sets itself, or that belong to its own Kafka, MongoDB and registry. */
  const FIXED =
    /^(?:HOST|PORT|OPS_PORT|BACKSTOP_REVISION|SMTP_REQUIRE_TLS|(?:KAFKA|MONGO|SCHEMA_REGISTRY)_(?!TOPIC_PREFIX$|DB$)\w+)$/

  test.each(['ingress', 'reconciler', 'notifier', 'admin-api', 'provision'])('reaches %s, if it reads it', program => {
    const lines = [...KNOWN_SETTINGS, ...PREFIXED].filter(line => settingFault(line) === undefined && !FIXED.test(line))
    const environment = environmentOf(program, Object.fromEntries(lines.map(line => [line, `value-of-${line}`])))
    const read = lines.filter(line => settingOf(line, program) !== undefined)
    expect(read.length).toBeGreaterThan(4)
    expect(read.filter(line => environment[settingOf(line, program) as string] !== `value-of-${line}`)).toEqual([])
  })
})

test('names the missing settings when there is no .env', () => {
  expect(() => READERS.ingress?.read(environmentOf('ingress', {}))).toThrow(/SECRET_KEYS/)
})

test.each([
  { name: 'the mail catcher, which has no TLS', env: {}, required: false },
  { name: 'any other server', env: { SMTP_URL: 'smtp://a:b@smtp.example.com:587' }, required: true },
])('TLS is required of $name: $required', ({ env, required }) => {
  const config = READERS.notifier?.read(environmentOf('notifier', { ...DOT_ENV, ...env }))
  expect(config).toMatchObject({ SMTP_REQUIRE_TLS: required })
})

test('has a recheck delay of one minute unless a test shortens it', () => {
  expect(environmentOf('reconciler', {}).RECHECK_DELAY_MS).toBe('60000')
})

test('takes the limits of the public services from .env, with a prefix for limits that both have', () => {
  const env = {
    ...DOT_ENV,
    INGRESS_BODIES_MAX_BYTES: '2000001',
    INGRESS_MAX_SOCKETS: '2002',
    INGRESS_MAX_SOCKETS_PER_ADDRESS: '2003',
    ADMIN_BODIES_MAX_BYTES: '3000001',
    ADMIN_MAX_SOCKETS: '3002',
    ADMIN_MAX_SOCKETS_PER_ADDRESS: '3003',
    RATE_LIMIT_PER_S: '7',
    RATE_LIMIT_BURST: '70',
  }
  const read = (service: string) => READERS[service]?.read(environmentOf(service, env))
  expect(read('ingress')).toMatchObject({
    BODIES_MAX_BYTES: 2_000_001,
    MAX_SOCKETS: 2_002,
    MAX_SOCKETS_PER_ADDRESS: 2_003,
    RATE_LIMIT_PER_S: 7,
    RATE_LIMIT_BURST: 70,
  })
  expect(read('admin-api')).toMatchObject({
    BODIES_MAX_BYTES: 3_000_001,
    MAX_SOCKETS: 3_002,
    MAX_SOCKETS_PER_ADDRESS: 3_003,
  })
})

test('copies the packages that npm keeps in the node_modules of a workspace', () => {
  const lock = JSON.parse(text('package-lock.json')) as { packages: Record<string, { dev?: boolean }> }
  const nested = Object.entries(lock.packages).flatMap(([path, { dev }]) => {
    const [, folder = ''] = /^((?:services|packages)\/[^/]+)\/node_modules\//.exec(path) ?? []
    return dev === true ? [] : [folder]
  })
  const ofServices = [...new Set(nested)].filter(folder => folder.startsWith('services/'))
  expect(ofServices, 'otherwise this test shows nothing').not.toEqual([])
  for (const folder of ofServices) expect(dockerfile).toContain(`COPY --from=dependencies /app/${folder} ${folder}\n`)
  expect(dockerfile).toContain('COPY --from=dependencies /app/packages packages\n')
})

test('pins every image, ours to this version, and the Dockerfile has a target for each', () => {
  const targets = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name)
  for (const name of OURS) {
    expect(services[name]).toMatchObject({
      image: `backstop-${name}:${packageJson.version}`,
      build: { target: name },
    })
    expect(targets).toContain(name)
  }
  for (const name of THIRD_PARTY) expect(services[name]?.image).toMatch(/:\d[^:]*$/)
  expect(dockerfile).toContain(`ARG VERSION=${packageJson.version}\n`)
  expect(dockerfile).not.toMatch(/^FROM \S+:latest|^ARG \w+_IMAGE=[^:]+$/m)
})

test('runs each program as the first process, under a numeric user that is not root', () => {
  const commands = [...dockerfile.matchAll(/^CMD (.*)$/gm)].map(([, command]) => JSON.parse(command ?? '') as string[])
  expect(commands.map(([program]) => program)).toEqual(Array(OURS.length).fill('node'))
  for (const [, path] of commands) expect(() => text(path ?? '')).not.toThrow()
  expect(new Set([...dockerfile.matchAll(/^USER (.*)$/gm)].map(([, user]) => user))).toEqual(new Set(['65532:65532']))
})

describe('the loopback address that a channel or an api_base can reach in a container', () => {
  const OWN = { reconciler: [9090], notifier: [9090], 'admin-api': [8080, 9090] }
  /** The ports that the Dockerfile sets for every container. */
  const PORTS = { PORT: '8080', OPS_PORT: '9090' }
  const openGuard = (service: string) => {
    const config = READERS[service]?.read({ ...PORTS, ...environmentOf(service, DOT_ENV) })
    return openEgress(config as EgressConfig, {
      logger: createLogger('test', 'silent'),
      metrics: createMetrics('test'),
    })
  }
  const reasonOf = async (egress: Egress, url: string) => {
    const request = { url, method: 'GET', headers: {}, timeoutMs: 2_000 } as const
    return egress.request(request).then(() => 'answered', egressReason)
  }

  test('is only the one of the demo, and only for the two services that the demo needs', () => {
    const allowed = Object.keys(OWN).map(name => environmentOf(name, DOT_ENV).EGRESS_ALLOW_CIDRS)
    expect(allowed).toEqual(['', '127.77.0.1/32', '127.77.0.1/32'])
  })

  test.each(Object.entries(OWN))('is no port of %s itself, and not Docker’s DNS', async (service, ports) => {
    const egress = openGuard(service)
    for (const host of ['127.0.0.1', '127.77.0.1', '[::1]', 'localhost']) {
      for (const port of ports) {
        expect(await reasonOf(egress, `http://${host}:${port}/metrics`), `${host}:${port}`).toMatch(
          /^(?:literal_address|resolved_address|host_name)$/,
        )
      }
    }
    expect(await reasonOf(egress, 'http://127.0.0.11:53/')).toBe('literal_address')
    await egress.stop()
  })

  test('is the receiver of the demo', () => {
    const receiver = text('scripts/demo.ts')
    expect(receiver).toContain("RECEIVER_HOST = '127.77.0.1'")
    expect(openGuard('admin-api').checkUrl('http://127.77.0.1:9100/alerts')).toBeUndefined()
    expect(dockerfile).toContain('PORT=8080 OPS_PORT=9090')
  })
})
