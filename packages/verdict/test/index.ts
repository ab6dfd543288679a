export { ofCustomer } from './details.ts'
export { expectedChange, expectedChangeDocument } from './expected-changes.ts'
export {
  alertsOf,
  CONNECTION,
  contextAt,
  emptyCase,
  lookAll,
  lookFacts,
  MINUTE,
  onlyAction,
  operation,
  operationSeen,
  PROJECT,
  play,
  policy,
  RULES,
  refundSeen,
  SECOND,
  sourceOf,
  T0,
  totalSeen,
} from './fixtures.ts'
export { propertySettings } from './searches.ts'
export { refundShown, scheduledCancellation, sightingInput, subscriptionShown } from './sightings.ts'
