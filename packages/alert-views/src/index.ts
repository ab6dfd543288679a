export * from './describe-alert.ts'
export { escapeHtml } from './email/fill-template.ts'
export { type MailContent, type MailView, renderMail } from './email/render-mail.ts'
export { SAMPLE_ALERTS, sampleChannelIncident } from './sample-alerts.ts'
