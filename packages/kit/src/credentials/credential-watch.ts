import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { type CredentialRefusal, describeRefusal, findRefusal, type RefusalContext } from './refusal.ts'
import type { Verdict } from './verdict.ts'

export interface CredentialWatchOptions {
  /** Called for each message, because the client certificate may have changed. */
  readonly context: () => RefusalContext
  readonly logger: Logger
  /** Tries the current credentials at all servers, on new connections. */
  readonly probe: () => Promise<Verdict>
  /** Called once, with an AppError whose message names the setting to correct. */
  readonly onFatal: (error: AppError) => void
  readonly graceMs?: number
}

/**
 * How long refused credentials may stay refused in a process that was accepted before, in milliseconds. A rotation changes the
 * server and the files at different times, and Kubernetes updates mounted files after up to about 90 seconds.
 */
const GRACE_MS = 180_000
/** Shortest time from the end of a probe to the next one, in milliseconds; after a probe that was accepted, and otherwise. */
const PROBE_EVERY_MS = { accepted: 60_000, refused: 10_000, unknown: 10_000 } as const
/** Time after which the same warning is logged again, in milliseconds. */
const WARN_EVERY_MS = 600_000

/**
 * One for each dependency. It ends a process whose credentials are wrong: at once if no server has ever accepted them, otherwise after a time that a
 * rotation needs. It never decides by a single connection, because one server with a wrong certificate would then end all
 * processes: a refused connection only starts a probe of all servers, and the verdict of the probe counts.
 */
export class CredentialWatch {
  readonly #options: CredentialWatchOptions
  #wasAccepted = false
  #isStopped = false
  #isProbing = false
  /** The last reported refusal since the last probe began; undefined if there was none. */
  #reported: CredentialRefusal | undefined
  /** Set while a next probe has to wait. */
  #pause: NodeJS.Timeout | undefined
  /** Set from the first refused probe to the next accepted one. */
  #deadline: NodeJS.Timeout | undefined
  #isOverdue = false
  readonly #warnedAt = new Map<string, number>()

  constructor(options: CredentialWatchOptions) {
    this.#options = options
  }

  /** A server accepted a connection with the current credentials. */
  accepted(): void {
    this.#wasAccepted = true
  }

  /** Reports a failed connection. Errors that are no refusal are ignored. */
  failed(error: unknown): void {
    const refusal = findRefusal(error)
    if (refusal !== undefined) this.suspected(refusal)
  }

  /** Reports connections that end without a reason, as some servers refuse credentials. */
  suspected(refusal: CredentialRefusal): void {
    this.#reported = refusal
    if (this.#pause === undefined) void this.#probe()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#pause)
    clearTimeout(this.#deadline)
  }

  async #probe(): Promise<void> {
    if (this.#isStopped || this.#isProbing) return
    clearTimeout(this.#pause)
    this.#isProbing = true
    const reported = this.#reported
    this.#reported = undefined
    const verdict = await this.#options.probe().catch((): Verdict => ({ kind: 'unknown', suspected: undefined }))
    this.#isProbing = false
    if (this.#isStopped) return
    this.#act(verdict, reported)
    if (this.#isStopped) return
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      if (this.#reported !== undefined || this.#deadline !== undefined) void this.#probe()
    }, PROBE_EVERY_MS[verdict.kind]).unref()
  }

  #act(verdict: Verdict, reported: CredentialRefusal | undefined): void {
    switch (verdict.kind) {
      case 'accepted':
        this.#wasAccepted = true
        if (this.#deadline !== undefined) this.#endGrace()
        else if (reported !== undefined) this.#warn(reported)
        break
      case 'refused':
        this.#refuse(this.#describe(verdict.refusal))
        break
      case 'unknown':
        if (verdict.suspected !== undefined) this.#warn(verdict.suspected)
        break
      default:
        verdict satisfies never
    }
  }

  #refuse(message: string): void {
    const { logger, graceMs = GRACE_MS, onFatal } = this.#options
    if (!this.#wasAccepted || this.#isOverdue) {
      this.stop()
      onFatal(new AppError('config_invalid', message))
    } else if (this.#deadline === undefined) {
      logger.error({ reason: message, exit_in_ms: graceMs }, 'credentials.refused')
      this.#deadline = setTimeout(() => {
        this.#isOverdue = true
        void this.#probe()
      }, graceMs).unref()
    }
  }

  #endGrace(): void {
    clearTimeout(this.#deadline)
    this.#deadline = undefined
    this.#isOverdue = false
    this.#options.logger.info({ dependency: this.#options.context().dependency }, 'credentials.accepted')
  }

  #warn(refusal: CredentialRefusal): void {
    const now = performance.now()
    const last = this.#warnedAt.get(refusal)
    if (last !== undefined && now - last < WARN_EVERY_MS) return
    this.#warnedAt.set(refusal, now)
    this.#options.logger.warn({ reason: this.#describe(refusal) }, 'credentials.refused_by_a_server')
  }

  #describe(refusal: CredentialRefusal): string {
    return describeRefusal(refusal, this.#options.context())
  }
}
