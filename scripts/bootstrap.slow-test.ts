import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

// A small repository: a lock file with one package, and a fake npm whose result the test chooses.
let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'backstop-bootstrap-'))
  mkdirSync(join(root, 'scripts'))
  for (const part of ['bootstrap.mjs', 'bootstrap']) {
    cpSync(fileURLToPath(new URL(`./${part}`, import.meta.url)), join(root, 'scripts', part), { recursive: true })
  }
  writeLock('1.0.0')
  tool('python3', 'echo Python 3.11')
  tool('docker', 'exit 1')
  tool(
    'npm',
    `[ "$1" = --version ] && { echo 10; exit; }
     echo "npm $*" >> ${root}/npm-calls
     [ -e ${root}/npm-fails ] && { echo "npm error: no network"; exit 1; }
     [ -e ${root}/npm-hangs ] && { echo $$ > ${root}/npm-pid; sleep 60 & wait; }
     mkdir -p ${root}/node_modules/.bin
     ln -sf ${process.execPath} ${root}/node_modules/.bin/node
     case "$*" in
       *--omit=dev*) sed '/only-tests/,/}/d' ${root}/package-lock.json > ${root}/node_modules/.package-lock.json;;
       *) cp ${root}/package-lock.json ${root}/node_modules/.package-lock.json;;
     esac`,
  )
  writeFileSync(join(root, 'scripts/script.ts'), `console.log('ran', ...process.argv.slice(2) as string[])`)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function writeLock(version: string): void {
  const packages = {
    '': {},
    'packages/kit': { version: '0.1.0' },
    'node_modules/left': { version },
    'node_modules/only-tests': { version: '1.0.0', dev: true },
    'node_modules/for-another-system': { version: '1.0.0', optional: true },
  }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }, null, 1))
}

function tool(name: string, script: string): void {
  const folder = join(root, 'tools')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}

const env = (): NodeJS.ProcessEnv => ({ PATH: [join(root, 'tools'), '/usr/bin', '/bin'].join(delimiter) })
const bootstrapArgs = (...args: string[]) => [join(root, 'scripts/bootstrap.mjs'), ...args]
function bootstrap(...args: string[]) {
  return spawnSync(process.execPath, bootstrapArgs(...args), { env: env(), encoding: 'utf8' })
}

/** The content of a file of the repository; undefined if it does not exist. */
function readIfThere(path: string): string {
  try {
    return readFileSync(join(root, path), 'utf8').trim()
  } catch {
    return ''
  }
}

/** True if a process group has a running process. Signal 0 only checks. */
function groupIsThere(leader: number): boolean {
  try {
    return process.kill(-leader, 0)
  } catch {
    return false
  }
}

const npmCalls = () => readIfThere('npm-calls').split('\n').filter(Boolean)

test('installs only the packages of the product to run it, and adds the others for the first script that needs them', () => {
  expect(bootstrap('--omit=dev', 'scripts/script.ts', 'a').stdout).toBe('ran a\n')
  expect(bootstrap('--omit=dev', 'scripts/script.ts').stdout).toBe('ran\n')
  expect(npmCalls()).toEqual([expect.stringMatching(/^npm ci --omit=dev /)])
  const tools = bootstrap('scripts/script.ts')
  expect(tools.stderr).toMatch(/✓ Installing the packages of tests and tools/)
  expect(bootstrap('--omit=dev', 'scripts/script.ts').stdout).toBe('ran\n')
  expect(npmCalls()).toEqual([expect.anything(), expect.stringMatching(/^npm install --no-save /)])
})

test('installs a clean clone once, and runs the script with its arguments', () => {
  const first = bootstrap('scripts/script.ts', 'a', '--b')
  expect(first.stderr).toMatch(/✓ Installing packages \(first start of this clone\) \(\d+ s\)\n/)
  expect(first.stdout).toBe('ran a --b\n')
  expect(bootstrap('scripts/script.ts').stdout).toBe('ran\n')
  expect(npmCalls()).toEqual(['npm ci --no-audit --no-fund --loglevel=error'])
})

test('gives the options before the script to Node', () => {
  writeFileSync(join(root, 'scripts/script.ts'), 'console.log(process.execArgv.join(), process.argv.slice(2).join())')
  expect(bootstrap('--omit=dev', '--max-semi-space-size=2', 'scripts/script.ts', '--a').stdout).toBe(
    '--max-semi-space-size=2 --a\n',
  )
})

test('installs when a package has another version in the lock file', () => {
  bootstrap('scripts/script.ts')
  writeLock('2.0.0')
  expect(bootstrap('scripts/script.ts').stderr).toMatch(/left has changed/)
  expect(npmCalls()).toHaveLength(2)
})

test('installs once when two starts run at the same time', async () => {
  const start = () =>
    new Promise<number | null>(resolve => {
      spawn(process.execPath, bootstrapArgs('scripts/script.ts'), { env: env() }).once('exit', resolve)
    })
  expect(await Promise.all([start(), start()])).toEqual([0, 0])
  expect(npmCalls()).toHaveLength(1)
})

test('installs in spite of the lock of a killed installer', () => {
  mkdirSync(join(root, '.backstop'))
  const dead = spawnSync(process.execPath, ['-e', '']).pid
  writeFileSync(join(root, '.backstop/install.lock'), String(dead))
  expect(bootstrap('scripts/script.ts').stdout).toBe('ran\n')
})

test('shows the last output of an npm that fails, leaves no lock, and does not run the script', () => {
  writeFileSync(join(root, 'npm-fails'), '')
  const { status, stdout, stderr } = bootstrap('scripts/script.ts')
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/✗ npm ci failed[\s\S]*no network/)
  expect(readIfThere('.backstop/install.lock')).toBe('')
})

test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])(
  '%s while it installs ends npm with all that it started',
  async signal => {
    writeFileSync(join(root, 'npm-hangs'), '')
    const child = spawn(process.execPath, bootstrapArgs('scripts/script.ts'), { env: env() })
    let said = ''
    child.stderr.on('data', chunk => (said += chunk))
    await expect.poll(() => readIfThere('npm-pid')).toMatch(/^\d+$/)
    const npm = Number(readIfThere('npm-pid'))
    expect(readIfThere('.backstop/install.lock')).toBe(`${child.pid} ${npm}`)
    child.kill(signal)
    const status = await new Promise(resolve => child.once('close', resolve))
    expect(status).toBe(128 + constants.signals[signal])
    expect(said).toMatch(/Stopped while installing/)
    await expect.poll(() => groupIsThere(npm)).toBe(false)
    expect(readIfThere('.backstop/install.lock')).toBe('')
  },
)

test('waits for an npm that outlives its killed bootstrap', async () => {
  writeFileSync(join(root, 'npm-hangs'), '')
  const killed = spawn(process.execPath, bootstrapArgs('scripts/script.ts'), { env: env() })
  await expect.poll(() => readIfThere('.backstop/install.lock')).toMatch(/ \d/)
  killed.kill('SIGKILL')
  await new Promise(resolve => killed.once('close', resolve))
  rmSync(join(root, 'npm-hangs'))
  const next = spawn(process.execPath, bootstrapArgs('scripts/script.ts'), { env: env() })
  let said = ''
  next.stderr.on('data', chunk => (said += chunk))
  await expect.poll(() => said).toMatch(/waiting for it/)
  process.kill(-Number(readIfThere('npm-pid')), 'SIGKILL')
  expect(await new Promise(resolve => next.once('exit', resolve))).toBe(0)
})

test('names a lock folder that cannot be created', () => {
  writeFileSync(join(root, '.backstop'), 'a file')
  const { status, stderr } = bootstrap('scripts/script.ts')
  expect(status).toBe(1)
  expect(stderr).toMatch(/\.backstop cannot be made: EEXIST/)
})

test.each([
  { name: 'python3 is missing', tool: 'python3', script: 'exit 127', fault: /python3 was not found.*\n\n.*apt-get/s },
  {
    name: 'pip is missing',
    tool: 'python3',
    script: '[ "$1" = -m ] && exit 1; echo Python 3.11',
    fault: /its pip is not.*\n\n.*apt-get install python3-pip/s,
  },
  { name: 'npm is missing', tool: 'npm', script: 'exit 127', fault: /npm was not found.*\n\n.*apt-get install npm/s },
])('when $name, the start says what to install', ({ tool: name, script, fault }) => {
  tool(name, script)
  const { status, stderr } = bootstrap('scripts/script.ts')
  expect(status).toBe(1)
  expect(stderr).toMatch(fault)
})

test('exits with the exit code of the script', () => {
  writeFileSync(join(root, 'scripts/script.ts'), 'process.exit(7)')
  expect(bootstrap('scripts/script.ts').status).toBe(7)
})

test('passes a signal to the script once, although npm and the terminal both send it, and lets the script decide how to end', async () => {
  writeFileSync(
    join(root, 'scripts/script.ts'),
    `let count = 0
     process.on('SIGINT', () => { count++; setTimeout(() => { console.log('SIGINT', count); process.exit(3) }, 200) })
     setInterval(() => {}, 1000)
     console.log('up')`,
  )
  const child = spawn(process.execPath, bootstrapArgs('scripts/script.ts'), { env: env() })
  let output = ''
  child.stdout.on('data', chunk => {
    if (output === '') {
      child.kill('SIGINT')
      child.kill('SIGINT')
    }
    output += chunk
  })
  const status = await new Promise(resolve => child.once('close', resolve))
  expect({ output, status }).toEqual({ output: 'up\nSIGINT 1\n', status: 3 })
})

test('lets the script notice that the bootstrap was killed', async () => {
  const witness = join(root, 'witness')
  writeFileSync(
    join(root, 'scripts/script.ts'),
    `import { writeFileSync } from 'node:fs'
     process.on('disconnect', () => { writeFileSync(${JSON.stringify(witness)}, 'told'); process.exit(0) })
     console.log('up')`,
  )
  const child = spawn(process.execPath, bootstrapArgs('scripts/script.ts'), { env: env() })
  child.stdout.once('data', () => child.kill('SIGKILL'))
  await expect.poll(() => spawnSync('cat', [witness], { encoding: 'utf8' }).stdout).toBe('told')
})

test('fetches the Node of the project by its install script when npm ran none', () => {
  bootstrap('scripts/script.ts')
  const bin = join(root, 'node_modules/.bin/node')
  rmSync(bin)
  const folder = join(root, 'node_modules/node')
  mkdirSync(folder)
  writeFileSync(
    join(folder, 'installArchSpecificPackage.js'),
    `require('node:fs').symlinkSync(${JSON.stringify(process.execPath)}, ${JSON.stringify(bin)})`,
  )
  const { stdout, stderr } = bootstrap('scripts/script.ts')
  expect(stderr).toMatch(/Fetching the Node/)
  expect(stdout).toBe('ran\n')
})
