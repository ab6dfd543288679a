/** What carries out a delivery. The notifier alone imports it. */
export { ATTEMPT_MS, type ChannelPorts, type ProjectFacts } from './channel.ts'
export { createSmtpMailer } from './email/smtp-mailer.ts'
export { type Mail, type Mailer, noMailer } from './mailer.ts'
export { CHANNEL_MODULES, deliverDigestThrough, deliverThrough, paceTargetOf } from './registry.ts'
