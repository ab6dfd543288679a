import { INBOUND_TOPICS, type ProviderKind } from '@backstop/contracts'
import type { MicroBatcher } from '../publish/micro-batcher.ts'
import type { QueueJudgement } from '../publish/rules/queue-wait.ts'
import type { TurnJudgement } from './rules/turn-window.ts'
import type { TurnWatch } from './turn-watch.ts'

/** Judges whether one more notification of a provider would wait too long. */
export type JudgeLoad = (provider: ProviderKind) => TurnJudgement | QueueJudgement

/** The two places where notifications wait: the event loop, and the queue of their topic. */
export function createLoadJudge(turns: TurnWatch, batcher: Pick<MicroBatcher, 'judge' | 'sendQueued'>): JudgeLoad {
  return provider => {
    const judgement = turns.judge()
    if (judgement.kind === 'bearable') return batcher.judge(INBOUND_TOPICS[provider])
    // The rest of the turn accepts nothing that could join the batch.
    batcher.sendQueued()
    return judgement
  }
}
