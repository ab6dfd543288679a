import type { ProgressSink } from './progress.ts'

/** The external parts that Backstop needs, by the names in options, records, logs and messages. */
export const PART_NAMES = ['kafka', 'mongo', 'registry', 'mail'] as const
export type PartName = (typeof PART_NAMES)[number]

/**
 * The TCP ports of an embedded stack (on 127.0.0.1 only). `mail` is the web page, `smtp` accepts mails, `controller` is
 * Kafka's own.
 */
export const PORT_NAMES = ['kafka', 'controller', 'mongo', 'registry', 'smtp', 'mail'] as const
export type PortName = (typeof PORT_NAMES)[number]

/** URLs of the parts. The URL is empty for a part that `only` excludes. */
export interface StackUrls {
  /** `host:port[,host:port…]` */
  kafka: string
  /** `mongodb://…` with all connection parameters, without a database name. */
  mongo: string
  /** Base URL of the Confluent-compatible API, without a trailing slash. */
  registry: string
  /** `smtp://host:port` */
  smtp: string
  /**
   * `http://…`: the web page of the mail catcher and the base URL of its REST API. Empty if the mail server was given
   * by SMTP_URL alone.
   */
  mail: string
}

/** One part of a running stack, for supervision and for tests that cause faults. */
export interface PartHandle {
  /** Undefined for given URLs and for containers, which are not processes of this machine. */
  pid: number | undefined
  /** True if the part was already running and this start adopted it. */
  adopted: boolean
  /** The last relevant lines of its log; empty if the log is not on this machine. */
  lastLogLines(): string[]
  /** Sends a signal to the part's own process, after checking that the pid still belongs to it. */
  kill(signal: NodeJS.Signals): void
  /** Stops the part if it runs, and starts it on the same port with the same data. Resolves when it is ready. */
  restart(): Promise<void>
  /** Sends SIGTERM, then SIGKILL after a time limit. Resolves when the process has ended. */
  stop(): Promise<void>
}

export type StackKind = 'given' | 'docker' | 'embedded'

export interface RunningStack {
  urls: StackUrls
  /** How the parts without given URLs run; `given` if all URLs were given. */
  kind: StackKind
  parts: Record<PartName, PartHandle>
  /** Stops the parts that this process owns. Given parts, and parts of another living process, keep running. */
  stop(): Promise<void>
}

export interface StackOptions {
  /** The folder of this stack only: its data, logs/, and parts.json, which a later start reads to adopt parts. */
  dataDir: string
  log: ProgressSink
  /** Required ports. All other ports are chosen among the free ones and remembered in dataDir. */
  ports?: Partial<Record<PortName, number>>
  /** True: no process owns the parts. stop() leaves them running for the next start to adopt. */
  keepRunning?: boolean
  /** The environment with the given URLs, BACKSTOP_STACK, BACKSTOP_CACHE and JAVA_HOME. */
  env: NodeJS.ProcessEnv
  /** All four parts by default. */
  only?: readonly PartName[]
  /** True: if this process ends without stopping the stack, even by a kill -9, a reaper stops the parts within 2 s. */
  endWithProcess?: boolean
}

/** The error of a stack that cannot start, with its remedy. */
export class StackError extends Error {
  /** The next step for the user, often an exact command; empty if the message is enough. */
  readonly remedy: string

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StackError'
    this.remedy = remedy
  }
}

/** A part could not start, because another process uses its port. */
export class PortInUseError extends StackError {}
