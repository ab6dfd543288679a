import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Egress, egressReason } from '@backstop/kit/egress'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { type EgressConfig, openEgress } from '@backstop/kit/service'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { KNOWN_SETTINGS } from '../../packages/provision/src/unknown-settings/known-settings.ts'
import { settingFault } from '../../packages/provision/src/unknown-settings/refuse-unknown-settings.ts'
import { PROGRAMS } from '../../scripts/release/places.ts'
import { PREFIXED, READERS, SAMPLE_SECRETS, settingOf } from './readers.ts'

interface Service {
  image: string
  build?: { target: string }
  profiles?: string[]
  ports?: string[]
  environment?: Record<string, string | number>
  secrets?: string[]
  // biome-ignore lint/suspicious/noExplicitAny: read field by field
  [field: string]: any
}

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const source = text('docker-compose.yml')
const { services, secrets } = parse(source, { merge: true }) as {
  services: Record<string, Service>
  secrets: Record<string, { file: string }>
}
const dockerfile = text('Dockerfile')

const THIRD_PARTY = ['kafka', 'mongo', 'registry', 'mail']
const OURS = ['ingress', 'reconciler', 'notifier', 'admin-api', 'provision', 'demo']
/** The files of deploy/compose/create-secrets.sh, with sample values. */
const folder = mkdtempSync(join(tmpdir(), 'backstop-compose-'))
for (const name of Object.keys(secrets)) {
  const optional = /^(?:OIDC|MAIL|HEARTBEAT|EGRESS|OTEL)_/.test(name)
  writeFileSync(join(folder, name), optional ? '\n' : `${SAMPLE_SECRETS[name]}\n`)
}
afterAll(() => rmSync(folder, { recursive: true }))

/** Replaces variables as Compose does, in the two forms that docker-compose.yml uses. */
function interpolate(value: string, env: Record<string, string | undefined>): string {
  return value.replaceAll(/\$\{([A-Z_]+):([-+])([^}]*)\}/g, (_, name: string, form: string, text: string) =>
    form === '-' ? env[name] || text : env[name] ? text : '',
  )
}

/** The environment of a container, with the files of this test in place of the mounted ones. */
function environmentOf(service: string, env: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries(services[service]?.environment ?? {})
  return Object.fromEntries(
    entries.map(([name, value]) => [name, interpolate(String(value), env).replace('/run/secrets', folder)]),
  )
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
  const environment = environmentOf(name, {})
  expect(Object.keys(environment).filter(variable => !names.includes(variable.replace(/_FILE$/, '')))).toEqual([])
  read?.(environment)
})

describe('a setting in .env', () => {
  /** Settings that docker-compose.yml sets itself, or that belong to its own Kafka, MongoDB and registry. */
  const FIXED =
    /^(?:HOST|PORT|OPS_PORT|BACKSTOP_REVISION|SMTP_REQUIRE_TLS|(?:KAFKA|MONGO|SCHEMA_REGISTRY)_(?!TOPIC_PREFIX$|DB$)\w+)$/

  test.each(['ingress', 'reconciler', 'notifier', 'admin-api', 'provision'])('reaches %s, if it reads it', program => {
    const lines = [...KNOWN_SETTINGS, ...PREFIXED].filter(
      line => settingFault(line) === undefined && !FIXED.test(line) && !(line in secrets),
    )
    const environment = environmentOf(program, Object.fromEntries(lines.map(line => [line, `value-of-${line}`])))
    const read = lines.filter(line => settingOf(line, program) !== undefined)
    expect(read.length).toBeGreaterThan(4)
    expect(read.filter(line => environment[settingOf(line, program) as string] !== `value-of-${line}`)).toEqual([])
  })
})

test('gives every secret as a file, to the services that read it, because docker inspect shows variables', () => {
  for (const name of OURS.filter(name => name !== 'demo')) {
    const environment = services[name]?.environment ?? {}
    const secretNames = READERS[name]?.secrets ?? []
    // The URL of MongoDB is a secret because it may have a password. This one has none.
    expect(environment.MONGO_URL, name).not.toMatch(/[@$]/)
    expect(Object.keys(environment).filter(variable => secretNames.includes(variable))).toEqual(['MONGO_URL'])
    const given = secretNames.filter(secret => secret in secrets)
    expect([...(services[name]?.secrets ?? [])].sort(), name).toEqual([...given].sort())
    for (const secret of given) expect(environment[`${secret}_FILE`], name).toBe(`/run/secrets/${secret}`)
  }
  expect(services.demo).toMatchObject({ secrets: ['BOOTSTRAP_API_KEY'] })
  expect(Object.keys(services.demo?.environment ?? {})).toEqual(['INGRESS_URL', 'ADMIN_URL', 'API_KEY_FILE'])
})

test('has a file for every secret that a service reads, but those of its own Kafka, MongoDB and registry', () => {
  const all = new Set(Object.values(READERS).flatMap(({ secrets: names }) => names))
  const ofStack = /^(?:KAFKA|MONGO|SCHEMA_REGISTRY)_/
  expect(Object.keys(secrets).sort()).toEqual([...all].filter(name => !ofStack.test(name)).sort())
  for (const [name, { file }] of Object.entries(secrets)) expect(file).toBe(`\${SECRET_FILES:-./secrets}/${name}`)
})

describe('deploy/compose/create-secrets.sh', () => {
  const script = resolve(import.meta.dirname, '../../deploy/compose/create-secrets.sh')
  const run = (name: string, dotEnv: string) => {
    const cwd = join(folder, name)
    mkdirSync(cwd, { recursive: true })
    writeFileSync(join(cwd, '.env'), dotEnv)
    const output = execFileSync('sh', [script], { cwd, encoding: 'utf8' })
    const read = (secret: string) => readFileSync(join(cwd, 'secrets', secret), 'utf8').trim()
    return { output, read, files: join(cwd, 'secrets') }
  }

  test('writes a file for each secret that the containers can read and other people on the machine cannot', () => {
    const { read, files } = run('new', '')
    expect(readdirSync(files).sort()).toEqual(Object.keys(secrets).sort())
    for (const file of readdirSync(files)) expect(statSync(join(files, file)).mode & 0o777, file).toBe(0o644)
    expect(statSync(files).mode & 0o777).toBe(0o700)
    for (const name of OURS.filter(name => name !== 'demo')) {
      const environment = Object.entries(services[name]?.environment ?? {}).map(([variable, value]) => [
        variable,
        interpolate(String(value), {}).replace('/run/secrets', files),
      ])
      expect(() => READERS[name]?.read(Object.fromEntries(environment)), name).not.toThrow()
    }
    expect(read('SMTP_URL')).toBe('smtp://mail:1025')
    expect(run('new', '').read('SECRET_KEYS'), 'a second run keeps it').toBe(read('SECRET_KEYS'))
  })

  test('takes over the values of an .env of version 0.2.0, and says which lines to remove', () => {
    const { SECRET_KEYS, SMTP_URL } = SAMPLE_SECRETS
    const { output, read } = run('old', `SECRET_KEYS=${SECRET_KEYS}\nSMTP_URL='${SMTP_URL}'\nSMTP_FROM=a@b.example\n`)
    expect([read('SECRET_KEYS'), read('SMTP_URL')]).toEqual([SECRET_KEYS, SMTP_URL])
    expect(output.match(/remove \w+ from .env/g)).toEqual(['remove SECRET_KEYS from .env', 'remove SMTP_URL from .env'])
  })
})

test.each([
  { name: 'the mail catcher, which has no TLS', env: {}, required: false },
  { name: 'any other server', env: { SMTP_FROM: 'Backstop <alerts@example.com>' }, required: true },
])('TLS is required of $name: $required', ({ env, required }) => {
  const config = READERS.notifier?.read(environmentOf('notifier', env))
  expect(config).toMatchObject({ SMTP_REQUIRE_TLS: required })
})

test('has a recheck delay of one minute unless a test shortens it', () => {
  expect(environmentOf('reconciler', {}).RECHECK_DELAY_MS).toBe('60000')
})

test('takes the limits of the public services from .env, with a prefix for limits that both have', () => {
  const env = {
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

test('copies the packages that the console needs to the stage that builds it', () => {
  const [, stage = ''] = /^FROM builder AS console\n(.*?)\n\n/ms.exec(dockerfile) ?? []
  const { dependencies } = JSON.parse(text('packages/console/package.json')) as { dependencies: Record<string, string> }
  const own = Object.keys(dependencies).flatMap(name => /^@backstop\/(.*)/.exec(name)?.[1] ?? [])
  expect(own.length).toBeGreaterThan(0)
  for (const name of [...own, 'console']) {
    expect(stage).toContain(`COPY packages/${name}/package.json packages/${name}/\n`)
    expect(stage).toContain(`COPY packages/${name} packages/${name}\n`)
  }
})

test('pins every image, ours to this version, and the Dockerfile has a target for each', () => {
  const targets = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name)
  for (const name of OURS) {
    const { image = '', build } = services[name] ?? {}
    expect(interpolate(image, {})).toBe(`backstop-${name}:${packageJson.version}`)
    expect(build).toMatchObject({ target: name })
    const published = interpolate(image, { IMAGES: 'registry.example/' })
    expect(published.startsWith('registry.example/')).toBe(PROGRAMS.includes(name))
    expect(targets).toContain(name)
  }
  const images = Object.fromEntries(THIRD_PARTY.map(name => [name, interpolate(services[name]?.image ?? '', {})]))
  for (const image of Object.values(images)) expect(image).toMatch(/^[\w/-]+:\d+\.\d+\.\d+(?:@sha256:[0-9a-f]{64})?$/)
  // The digests of the others are in no public record that can be read without their registry. `npm run release -- pin-images` writes all.
  expect([images.kafka, images.mongo].filter(image => !image?.includes('@sha256:'))).toEqual([])
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
    const config = READERS[service]?.read({ ...PORTS, ...environmentOf(service, {}) })
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
    const allowed = Object.keys(OWN).map(name => environmentOf(name, {}).EGRESS_ALLOW_CIDRS)
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
