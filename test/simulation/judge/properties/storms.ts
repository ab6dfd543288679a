import type { Case } from '../evidence.ts'
import type { Property } from '../property.ts'

/** Messages about one storm that a chat gets at most (docs/storms.md). */
const MOST_MESSAGES = 20

/** What people in a team chat get about a burst and its storm. */
export const STORM_PROPERTIES: readonly Property[] = [
  { name: 'storms-are-few-messages', promise: 'storms', check: findFloods },
  { name: 'bursts-are-resolved-once', promise: 'storms', check: findRepeatedEnds },
]

/** A message that is repeated after a lost answer has the same text. */
function findFloods({ truth }: Case): string[] {
  const messages = truth.chats.flatMap(({ host, body }) => {
    const storm = /storm (stm_\w+)/.exec(body)?.[1]
    return storm === undefined ? [] : [{ chat: `${storm} in ${host}`, body }]
  })
  return [...Map.groupBy(messages, ({ chat }) => chat)].flatMap(([chat, own]) => {
    const count = new Set(own.map(({ body }) => body)).size
    return count > MOST_MESSAGES ? [`${count} messages about ${chat}`] : []
  })
}

function findRepeatedEnds({ truth }: Case): string[] {
  const ends = truth.chats.flatMap(({ host, body }) => {
    const incident = body.includes('Resolved: the burst') ? /incident (inc_\w+)/.exec(body)?.[1] : undefined
    return incident === undefined ? [] : [{ chat: `${incident} in ${host}`, body }]
  })
  return [...Map.groupBy(ends, ({ chat }) => chat)].flatMap(([chat, own]) => {
    const count = new Set(own.map(({ body }) => body)).size
    return count > 1 ? [`${count} messages resolve the burst ${chat}`] : []
  })
}
