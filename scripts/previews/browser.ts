import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

/** The size and colour scheme in which a page is shown. */
export interface Look {
  /** In CSS pixels. */
  readonly width: number
  readonly isDark: boolean
}

/** A browser with one tab, controlled through the Chrome DevTools Protocol. */
export interface Browser {
  /** Takes a picture of the whole page. WebP is a third as large, and PNG is exact. */
  takePicture(file: string, look: Look, format?: 'png' | 'webp'): Promise<Buffer>
  close(): Promise<void>
}

const START_MS = 30_000
const CALL_MS = 30_000

/** @throws Error if the program does not start or is not Chromium */
export async function openBrowser(program: string, env: NodeJS.ProcessEnv): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'backstop-previews-'))
  const options = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    // All host names are unknown, so that no logo is fetched and pictures are the same on every machine.
    '--host-resolver-rules=MAP * ~NOTFOUND',
    `--user-data-dir=${profile}`,
    '--remote-debugging-port=0',
    'about:blank',
  ]
  const child = spawn(program, options, { stdio: ['ignore', 'ignore', 'pipe'], env })
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const call = await connect(await findPage(await readAddress(child)))
    await call('Page.enable')
    return { takePicture: (file, look, format = 'png') => takePicture(call, file, look, format), close }
  } catch (error) {
    await close()
    throw error
  }
}

type Call = (method: string, params?: object) => Promise<Record<string, unknown>>

async function takePicture(call: Call, file: string, { width, isDark }: Look, format: string): Promise<Buffer> {
  const features = [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }]
  await call('Emulation.setEmulatedMedia', { features })
  // The height of the window does not matter, because the whole page is in the picture.
  await call('Emulation.setDeviceMetricsOverride', { width, height: 100, deviceScaleFactor: 1, mobile: false })
  const url = pathToFileURL(file).href
  await call('Page.navigate', { url })
  const expression = `new Promise(done => {
    const check = () => document.readyState === 'complete' && location.href === ${JSON.stringify(url)}
      ? done(document.documentElement.getBoundingClientRect().height)
      : setTimeout(check, 5)
    check()
  })`
  const { result } = await call('Runtime.evaluate', { expression, awaitPromise: true })
  const height = Math.ceil((result as { value: number }).value)
  const clip = { x: 0, y: 0, width, height, scale: 1 }
  const { data } = await call('Page.captureScreenshot', { format, clip, captureBeyondViewport: true })
  return Buffer.from(data as string, 'base64')
}

/** The browser prints the address of its debugger when it is ready. */
async function readAddress(child: ChildProcess): Promise<URL> {
  if (child.stderr === null) throw new Error('The browser has no standard error stream')
  const deadline = setTimeout(() => child.kill(), START_MS)
  const failed = once(child, 'error').then(([error]) => {
    throw error
  })
  const lines: string[] = []
  const read = async () => {
    for await (const line of createInterface({ input: child.stderr as NodeJS.ReadableStream })) {
      const address = /^DevTools listening on (ws:\S+)/.exec(line)?.[1]
      if (address !== undefined) return new URL(address)
      lines.push(line)
    }
    throw new Error(`The browser did not start: ${lines.slice(-5).join('\n')}`)
  }
  try {
    return await Promise.race([read(), failed])
  } finally {
    clearTimeout(deadline)
  }
}

async function findPage({ host }: URL): Promise<string> {
  const response = await fetch(`http://${host}/json/list`, { signal: AbortSignal.timeout(CALL_MS) })
  const pages = (await response.json()) as { type: string; webSocketDebuggerUrl: string }[]
  const page = pages.find(({ type }) => type === 'page')
  if (page === undefined) throw new Error('The browser has no open page')
  return page.webSocketDebuggerUrl
}

async function connect(url: string): Promise<Call> {
  const socket = new WebSocket(url)
  await once(socket, 'open', { signal: AbortSignal.timeout(CALL_MS) })
  let lastId = 0
  return async (method, params = {}) => {
    const id = ++lastId
    const signal = AbortSignal.timeout(CALL_MS)
    const answer = new Promise<Record<string, unknown>>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`The browser did not answer ${method}`)))
      const receive = ({ data }: MessageEvent) => {
        const { id: answered, result, error } = JSON.parse(String(data))
        if (answered !== id) return
        socket.removeEventListener('message', receive)
        if (error === undefined) resolve(result)
        else reject(new Error(`${method}: ${error.message}`))
      }
      socket.addEventListener('message', receive)
    })
    socket.send(JSON.stringify({ id, method, params }))
    return answer
  }
}
