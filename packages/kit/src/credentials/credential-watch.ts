import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { describeRefusal, findRefusal, type RefusalContext } from './refusal.ts'

/** Decides when refused credentials end the process. One for each dependency. */
export interface CredentialWatch {
  /** A connection was accepted with the current credentials. */
  accepted(): void
  /** Reports a failed connection. Errors that are no refusal are ignored. */
  failed(error: unknown): void
  stop(): void
}

export interface CredentialWatchOptions {
  /** Called for each refusal, because the client certificate may have changed. */
  readonly context: () => RefusalContext
  readonly logger: Logger
  /** Called once, with an AppError whose message names the setting to correct. */
  readonly onFatal: (error: AppError) => void
  readonly graceMs?: number
}

/**
 * How long refused credentials may stay refused in a process that was accepted before, in milliseconds. A rotation changes the
 * server and the files at different times, and Kubernetes updates mounted files after up to about 90 seconds.
 */
const GRACE_MS = 180_000

/**
 * Ends a process whose credentials are wrong: at the first refusal if they were never accepted, otherwise after a time that
 * a rotation needs.
 */
export function watchCredentials(options: CredentialWatchOptions): CredentialWatch {
  const { context, logger, onFatal, graceMs = GRACE_MS } = options
  let state: 'new' | 'accepted' | 'ended' = 'new'
  let deadline: NodeJS.Timeout | undefined
  const end = (message: string) => {
    state = 'ended'
    clearTimeout(deadline)
    onFatal(new AppError('config_invalid', message))
  }
  return {
    accepted() {
      if (state === 'ended') return
      state = 'accepted'
      if (deadline === undefined) return
      clearTimeout(deadline)
      deadline = undefined
      logger.info({ dependency: context().dependency }, 'credentials.accepted')
    },
    failed(error) {
      const refusal = findRefusal(error)
      if (refusal === undefined || state === 'ended' || deadline !== undefined) return
      const message = describeRefusal(refusal, context())
      if (state === 'new') return end(message)
      logger.error({ reason: message, exit_in_ms: graceMs }, 'credentials.refused')
      deadline = setTimeout(end, graceMs, message).unref()
    },
    stop() {
      state = 'ended'
      clearTimeout(deadline)
    },
  }
}
