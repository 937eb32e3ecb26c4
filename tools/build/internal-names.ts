/**
 * Properties of objects that never leave the script-tag file, by the interfaces and classes that declare them. No minifier
 * shortens a property by itself, because it cannot know who else reads it; these are read by nobody else, and shorter names
 * save 0.3 KB. A name belongs here only if nothing that is public has it too: no member of an element, event or error, no
 * field of a message, record or option, nothing of the browser's own. A test compares the list with what is published.
 */
export const INTERNAL_NAMES = [
  // Attribute, Schema, Outcome, RequestOptions, Instant, HeldToken, TokenAnswer, Ident
  'initial',
  'effect',
  'others',
  'safeParse',
  'issues',
  'expected',
  'attempt',
  'tries',
  'maxBytes',
  'wall',
  'mono',
  'life',
  'since',
  'answer',
  'environment',
  'tenant',
  // EditorController, EditorStatus, SettingsSync
  'sendSettings',
  'hostMoved',
  'setState',
  'said',
  'unwatch',
  'hold',
  'takeChanges',
  // UnsavedWorkHost, UnsavedWork
  'isReleasing',
  'isGuarded',
  'canSave',
  'confirmDiscard',
  'isAwaited',
  // Launch, LaunchHost
  'connection',
  'canDeliver',
  'onFrame',
  'openSettings',
  'onReady',
  'onFail',
  'onHello',
  // EditorConnection, ConnectionOptions, EditorFrame
  'awaitsReady',
  'withToken',
  'knownTokens',
  'isBlank',
  'endSession',
  'greeted',
  'dispose',
  'onMessage',
  'onLoad',
  'onBlocked',
  'setAttributes',
  // TokenHolder, TokenHolderHost
  'known',
  'obtain',
  'renew',
  'scheduleRenewal',
  'scheduleTokenRequest',
  'getToken',
  'onExpiring',
  'onRefused',
  // FeaturesSource, FeaturesView
  'leave',
  'locked',
  'onInput',
  'onChange',
];
