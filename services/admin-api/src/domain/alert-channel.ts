import type { AlertChannel, ChannelConfig, ChannelDocument, ChannelHealthDocument } from '@backstop/contracts'

/** A channel as it is shown: its secrets only as fingerprints. Slack's webhook_url is one, because it is all that is needed to post. */
export function showChannel(document: ChannelDocument, health: ChannelHealthDocument | undefined): AlertChannel {
  return {
    id: document._id,
    project_id: document.project_id,
    name: document.name,
    events: document.events,
    config: showConfig(document.config),
    // A channel works when it is enabled and its health has not disabled it.
    enabled: document.enabled && (health?.disabled_at ?? null) === null,
    disabled_reason: health?.disabled_reason ?? null,
    created_at: document.created_at.toISOString(),
    updated_at: document.updated_at.toISOString(),
  }
}

function showConfig(config: ChannelConfig): AlertChannel['config'] {
  switch (config.kind) {
    case 'slack':
      return { kind: 'slack', webhook_url_fingerprint: config.fingerprint }
    case 'email':
      return { kind: 'email', to: config.to }
    case 'webhook':
      return { kind: 'webhook', url: config.url, secret_fingerprint: config.fingerprint }
    default:
      return config satisfies never
  }
}

/** What is left of a channel once it is deleted: nothing that anything could be sent with. */
export function deletedChannel(
  document: ChannelDocument,
  now: Date,
): Pick<ChannelDocument, 'config' | 'enabled' | 'updated_at' | 'deleted_at'> {
  return { config: erased(document.config), enabled: false, updated_at: now, deleted_at: now }
}

function erased(config: ChannelConfig): ChannelConfig {
  switch (config.kind) {
    case 'slack':
      return { ...config, webhook_url: '' }
    case 'email':
      return { ...config, to: [] }
    case 'webhook':
      return { ...config, url: '', secret: null }
    default:
      return config satisfies never
  }
}
