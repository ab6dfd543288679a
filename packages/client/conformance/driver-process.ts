/** Starts a driver, and gives it steps over HTTP. docs/reporting.md explains what a driver does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Call, Library } from './case.ts'

export type DriverStep =
  | {
      readonly step: 'watch'
      readonly library: Library
      readonly provider_url: string
      readonly backstop_url: string
      readonly key: string
      readonly connection_id: string
      readonly spool_folder: string | null
      readonly max_queued: number
      /** False: the client is opened without a reporter. */
      readonly watched: boolean
    }
  | { readonly step: 'call'; readonly calls: readonly Call[] }
  | { readonly step: 'flush' | 'close'; readonly timeout_ms: number }
  | { readonly step: 'status' }

export interface CallResult {
  readonly ok?: true
  readonly error?: string
  readonly unsupported?: string
  /** The duration of the call, as the program saw it. */
  readonly ms: number
  readonly value?: { readonly id?: string | null } | null
}

const STEP_TIMEOUT_MS = 20_000
const KEPT_OUTPUT = 4_000

/** A request of the driver: the result of its last step, and the answer that will be its next step. */
interface DriverRequest {
  readonly result: unknown
  readonly answer: ServerResponse
}

export class DriverProcess {
  readonly #child: ChildProcess
  readonly #server: Server
  #onRequest: (request: DriverRequest) => void = () => {}
  #answer: ServerResponse | undefined
  #output = ''

  private constructor(child: ChildProcess, server: Server) {
    this.#child = child
    this.#server = server
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT)
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    server.on('request', async (request, answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      this.#onRequest({ result: JSON.parse(Buffer.concat(chunks).toString() || 'null'), answer })
    })
  }

  /** Starts a driver and waits until it asks for its first step. @param command the program and its arguments */
  static async start([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<DriverProcess> {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const child = spawn(program, args, {
      env: { ...env, CONFORMANCE_URL: `http://127.0.0.1:${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const driver = new DriverProcess(child, server)
    await driver.#receive('start', () => {})
    return driver
  }

  /** @returns the driver's result of the step @throws Error with the driver's output if it failed or did not answer */
  do<T>(step: DriverStep): Promise<T> {
    const answer = this.#answer
    return this.#receive(step.step, () => answer?.end(JSON.stringify(step)))
  }

  async #receive<T>(name: string, begin: () => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<DriverRequest>()
    const fail = (error: string) => reject(new Error(`${name}: ${error}\n${this.#output}`))
    const onExit = () => fail('The driver ended')
    const timer = setTimeout(fail, STEP_TIMEOUT_MS, `No result after ${STEP_TIMEOUT_MS / 1000} s`)
    this.#child.once('exit', onExit)
    this.#child.once('error', onExit)
    this.#onRequest = resolve
    try {
      begin()
      const { result, answer } = await promise
      this.#answer = answer
      const error = Reflect.get(Object(result), 'error')
      if (error !== undefined) throw new Error(`${name}: ${error}\n${this.#output}`)
      return result as T
    } finally {
      clearTimeout(timer)
      this.#child.off('exit', onExit)
      this.#child.off('error', onExit)
    }
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL')
      await once(this.#child, 'exit')
    }
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
