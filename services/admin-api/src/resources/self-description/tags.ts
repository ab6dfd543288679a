/** The tags of the OpenAPI document with their descriptions. A test fails if a route has another tag. */
const TAG_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'API keys': 'Keys for programs: their scopes, their project, their rotation and their last use.',
  About: 'Links and this document. No key is required.',
  Actions: 'Refunds and cancellations that a provider shows, each with its verdict and the reason.',
  Actors:
    'Who made refunds and cancellations, as far as the providers name them, with the names that people gave them.',
  'Alert channels': 'Where alerts of a project are sent: Slack, e-mail, webhooks, PagerDuty, Teams and Discord.',
  Approvals: 'Decisions about operations that wait for approval.',
  Archive: 'Old explained actions, which an archive keeps in place of the database.',
  Audit: 'Who changed what, and who was refused.',
  Budgets: 'Caps on the money that operations may refund in a day, a week or a month.',
  Connections: 'Billing accounts of a project and their secrets.',
  'Dead letters': 'Notifications, deliveries and messages that could not be used.',
  Deliveries: 'Each alert on its way to a channel, with every attempt.',
  'Expected changes': 'Refunds and cancellations that people announce, because no operation reports them.',
  Inbox: 'Authentic notifications of providers, with their outcome.',
  Incidents: 'Problems that people should look at, from their opening to their resolution.',
  Installation: 'The work of all services that waits.',
  Live: 'Changes of a project as they happen.',
  'Mail events': 'Reports of mail providers about bounces and complaints.',
  Operations: 'Refunds and cancellations that your software requests or makes. They explain actions.',
  People: 'The people who use this API, and their roles in projects.',
  'Person erasures': 'The erasure of the personal data of one customer, with its progress.',
  Previews: 'Messages as their recipients get them, with sample alerts.',
  Projects: 'The owners of connections, channels and budgets.',
  Replays: 'Sending the dead deliveries of a channel again.',
  Runs: 'Runs of your software, with their operations.',
  Sessions: 'Signing browsers in and out.',
  Search: 'One search over the actions, operations and other resources of a project.',
  Silences: 'Periods in which nobody is notified about a connection.',
  Stats: 'Counts, sums and times of actions and incidents, and monthly statements for finance.',
  'Stored secrets': 'The keys that encrypt stored secrets, and their rotation.',
  Storms: 'Many unexplained actions of one connection within a short time.',
  Suppressions: 'Addresses that get no more mail of a project.',
  Unsubscribing: 'The pages that links in mails open.',
  Webhooks: 'Requests that Backstop sends to your endpoint (docs/webhooks.md).',
}

/** The description of a tag. */
export function describeTag(name: string): { readonly name: string; readonly description?: string } {
  const description = TAG_DESCRIPTIONS[name]
  return description === undefined ? { name } : { name, description }
}
