import type { ProgressSink } from './progress.ts'

/** The four things Backstop needs around it, by the name used in options, records, logs and messages. */
export const PART_NAMES = ['kafka', 'mongo', 'registry', 'mail'] as const
export type PartName = (typeof PART_NAMES)[number]

/** Every TCP port an embedded stack listens on (127.0.0.1 only). `mail` is the web page, `smtp` the mail intake, `controller` is Kafka's own. */
export const PORT_NAMES = ['kafka', 'controller', 'mongo', 'registry', 'smtp', 'mail'] as const
export type PortName = (typeof PORT_NAMES)[number]

/** URLs of the parts. A part left out by `only` has an empty string. */
export interface StackUrls {
  /** `host:port[,host:port…]` */
  kafka: string
  /** `mongodb://…` with everything needed to connect, without a database name. */
  mongo: string
  /** Base of the Confluent-compatible API, without a slash at the end. */
  registry: string
  /** `smtp://host:port` */
  smtp: string
  /** `http://…`: the web page of the mail catcher and the base of its REST API. Empty when mail was given by SMTP_URL alone. */
  mail: string
}

/** One part of a running stack, for supervision and for tests that break it. */
export interface PartHandle {
  /** Undefined for given URLs and containers, which are no processes of this machine. */
  pid: number | undefined
  /** Whether the part already ran, and this start adopted it. */
  adopted: boolean
  /** The last lines of its log that explain something to a person; empty where the log is not on this machine. */
  lastWords(): string[]
  /** Sends a signal to the part's own process, after checking that the pid is still that program. */
  kill(signal: NodeJS.Signals): void
  /** Stops the part if it runs, and starts it on the same port with the same data; resolves when it is ready. */
  restart(): Promise<void>
  /** SIGTERM, then SIGKILL after a deadline; resolves when the process has ended. */
  stop(): Promise<void>
}

export type StackKind = 'given' | 'docker' | 'embedded'

export interface RunningStack {
  urls: StackUrls
  /** What runs the parts that were not given: `given` when every one was. */
  kind: StackKind
  parts: Record<PartName, PartHandle>
  /** Stops the parts that this process owns. Given parts, and those of another living process, stay up. */
  stop(): Promise<void>
}

export interface StackOptions {
  /** Folder of this stack alone: its data, logs/, and parts.json, by which a later start adopts parts. */
  dataDir: string
  log: ProgressSink
  /** Ports to use. The others are free ones, remembered in dataDir. */
  ports?: Partial<Record<PortName, number>>
  /** True: nobody owns the parts; stop() leaves them up for the next start to adopt. */
  keepRunning?: boolean
  /** Source of the given URLs, BACKSTOP_STACK, BACKSTOP_CACHE and JAVA_HOME. */
  env: NodeJS.ProcessEnv
  /** Default: all four. */
  only?: readonly PartName[]
  /** When this process ends without stopping the stack, even by a kill -9, a reaper ends the parts within 2 s. */
  endWithProcess?: boolean
}

/** A stack that cannot come up, and what to do about it. */
export class StackError extends Error {
  /** What to do, often an exact command; empty when the message says it all. */
  readonly remedy: string

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StackError'
    this.remedy = remedy
  }
}
