import type { ReadTarget } from '@backstop/contracts'
import {
  PAGE_DEADLINE_MS,
  type ProviderReader,
  type ReaderOptions,
  type ReadLimits,
  type ReadResult,
  type SweepPage,
} from '../read-back.ts'
import { type UsedFieldsOfTypes, withUsedFields } from '../used-fields.ts'
import { ApiClient, type ApiDialect, type Budget } from './api-client.ts'
import { type FeedList, feedOf } from './feeds.ts'
import { type DetailParts, readWithDetails } from './read-details.ts'
import { readTargets, type TargetResult } from './read-targets.ts'
import { readSweepPage } from './sweep.ts'

/** The provider-specific parts of a reader. */
export interface ReaderParts {
  readonly dialect: ApiDialect
  readonly limits: ReadLimits
  /** The URL to which paths are appended. */
  readonly base: string
  /** Reads one target once. */
  readTarget(client: ApiClient, target: ReadTarget, budget: Budget): Promise<TargetResult>
  /** Absent if no target only adds details. */
  readonly details?: DetailParts
  /** The fields of the objects that are used. The reader returns no other fields. */
  readonly used: UsedFieldsOfTypes
  /** The lists of a sweep, in their order. */
  readonly changes: readonly FeedList[]
  /** The lists of the baseline. */
  readonly schedules: readonly FeedList[]
}

/** Creates the reader of a connection. */
export function openReader(parts: ReaderParts, options: ReaderOptions): ProviderReader {
  const { clock } = options
  const client = new ApiClient(parts.dialect, parts.base, options, parts.limits)
  const details = parts.details && {
    parts: parts.details,
    client: new ApiClient(parts.dialect, parts.details.base ?? parts.base, options, {
      ...parts.limits,
      ...parts.details,
    }),
  }
  const budget = (ms: number, signal: AbortSignal | undefined, effort: Budget['effort']): Budget => ({
    endsAt: clock.now() + ms,
    signal,
    effort,
  })
  const open = (lists: readonly FeedList[], signal: AbortSignal | undefined) =>
    lists.map(list => feedOf(client, budget(PAGE_DEADLINE_MS, signal, 'once'), list))
  const reduced = <Answer extends ReadResult | SweepPage>(answer: Answer): Answer =>
    'objects' in answer
      ? { ...answer, objects: answer.objects.map(object => withUsedFields(object, parts.used)) }
      : answer
  return {
    get health() {
      return client.health
    },
    async read(targets, deadlineMs, signal) {
      const within = budget(deadlineMs, signal, 'retry')
      const readAll = (all: readonly ReadTarget[]) =>
        readTargets(client, all, within, target => parts.readTarget(client, target, within))
      if (details === undefined) return reduced(await readAll(targets))
      const readDetail = (target: ReadTarget, once: Budget) => parts.readTarget(details.client, target, once)
      return reduced(await readWithDetails(details.parts, targets, within, clock, readDetail, readAll))
    },
    changes: async (cursor, since, signal) =>
      reduced(await readSweepPage(open(parts.changes, signal), cursor, since, clock.now())),
    schedules: async (cursor, signal) =>
      reduced(await readSweepPage(open(parts.schedules, signal), cursor, 0, clock.now())),
  }
}
