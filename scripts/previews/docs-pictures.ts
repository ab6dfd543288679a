/** The pictures in docs/pictures: for each kind of channel that people read, one unexplained refund, and a storm. */
export const DOCS_PICTURES = [
  { sample: 'email.incident.opened', look: 'light' },
  { sample: 'email.incident.opened', look: 'dark' },
  { sample: 'email.incident.opened', look: 'phone' },
  { sample: 'slack.incident.opened', look: 'light' },
  { sample: 'teams.incident.opened', look: 'light' },
  { sample: 'discord.incident.opened', look: 'dark' },
  { sample: 'pagerduty.incident.opened', look: 'light' },
  { sample: 'slack.storm.reported', look: 'light' },
  { sample: 'email.storm.reported', look: 'light' },
] as const
