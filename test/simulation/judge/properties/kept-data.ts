import type { Case, Stored } from '../evidence.ts'
import type { Property } from '../property.ts'

/** Where data of persons may be (docs/architecture.md, "Retention"). */
const MAY_HOLD_PERSONS = /^(subjects|actions|inbox_bodies|inbound\..+|rereads.*|readbacks|alerts)$/
/** The simulated providers give every customer and every user of a dashboard an address in these domains. */
const PERSON = /@(?:shop\.)?example\b/

/** Where personal data and secrets are. */
export const DATA_PROPERTIES: readonly Property[] = [
  { name: 'personal-data-stays', promise: 'personal-data', check: findPersons },
  { name: 'secrets-are-stored-nowhere', promise: 'secrets', check: findSecrets },
]

function findPersons({ alerts, evidence }: Case): string[] {
  const sent: Stored[] = alerts.map(({ channel, text }) => ({ place: `an alert to ${channel}`, text }))
  const kept = evidence.stored.filter(({ place }) => !MAY_HOLD_PERSONS.test(place))
  return unique(
    [...sent, ...kept].flatMap(({ place, text }) => {
      const at = text.search(PERSON)
      return at === -1 ? [] : [`An address of a person is in ${place}: ${text.slice(Math.max(0, at - 30), at + 15)}`]
    }),
  )
}

function findSecrets({ truth, evidence, alerts }: Case): string[] {
  const everything = [
    ...evidence.stored,
    ...alerts.map(({ channel, text }) => ({ place: `an alert to ${channel}`, text })),
  ]
  return truth.secrets.flatMap(secret =>
    unique(everything.filter(({ text }) => text.includes(secret)).map(({ place }) => `A secret is in ${place}`)),
  )
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
