import { type Clock, sleep } from '../clock/clock.ts'
import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** Checks one condition. Returns what is wrong and what to do, undefined if it is met. @throws if it cannot be checked now */
export type Precondition = () => Promise<string | undefined>

/** The conditions without which the promises of a service do not hold, such as keys that open the stored secrets. */
export interface Preconditions {
  /** The last judgement: the first condition that is not met. */
  fault(): string | undefined
  /** Judges now, also between the checks of every minute. */
  recheck(): Promise<string | undefined>
  /** Resolves when all conditions are met. */
  untilMet(): Promise<void>
  /**
   * Starts the checks. Resolves after the first one.
   * @param onLost called when a condition was met and no longer is
   */
  start(onLost?: (fault: string) => void): Promise<void>
  stop(): Promise<void>
}

export interface PreconditionOptions {
  readonly conditions: readonly Precondition[]
  readonly clock: Clock
  readonly logger: Logger
}

/** Time between two checks, in milliseconds: after a fault shorter, because somebody repairs it now. */
const EVERY_MS = 60_000
const EVERY_MS_WHILE_UNMET = 5_000
/** Until the first judgement nothing is known, so the process is not ready. */
const UNCHECKED = 'The rights, the stored secrets and the indexes were not checked yet: check MongoDB'

/** Checks conditions at the start and every minute. A condition that cannot be checked now keeps its last judgement. */
export function createPreconditions({ conditions, clock, logger }: PreconditionOptions): Preconditions {
  const stopping = new AbortController()
  const met = Promise.withResolvers<void>()
  let fault: string | undefined = UNCHECKED
  let hasBeenMet = false
  let isJudged = false
  let loop = Promise.resolve()
  let onLost: ((fault: string) => void) | undefined

  async function recheck(): Promise<string | undefined> {
    let found: string | undefined
    try {
      for (const condition of conditions) found ??= await condition()
    } catch (error) {
      logger.warn({ error }, 'preconditions.not_checked')
      // A missing right, for example. Later the last judgement says more.
      if (!isJudged && error instanceof AppError) fault = error.message
      return fault
    }
    if (found !== fault) {
      if (found === undefined) logger.info('preconditions.met')
      else logger.error({ fault: found }, 'preconditions.not_met')
    }
    fault = found
    isJudged = true
    if (found === undefined) {
      hasBeenMet = true
      met.resolve()
    } else if (hasBeenMet) onLost?.(found)
    return found
  }

  async function checkForEver(afterFirst: () => void): Promise<void> {
    while (!stopping.signal.aborted) {
      const found = await recheck()
      afterFirst()
      await sleep(clock, found === undefined ? EVERY_MS : EVERY_MS_WHILE_UNMET, stopping.signal)
    }
  }

  return {
    fault: () => fault,
    recheck,
    untilMet: () => met.promise,
    start(whenLost) {
      onLost = whenLost
      return new Promise(resolve => {
        loop = checkForEver(resolve)
      })
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
