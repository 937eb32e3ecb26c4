import { formatTime } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { Failure } from '../service/failure.ts';
import { failureKey, withDetail } from '../service/failure.ts';
import type { StatusText } from '../ui/status-line.ts';
import type { SaveState } from './save-queue.ts';

/** What the status line says of saving. */
export function saveStatus(state: SaveState): StatusText {
  const { save } = texts();
  switch (state.kind) {
    case 'unchanged':
      return { text: save.unchanged, tone: 'good' };
    case 'new':
      return { text: save.fresh, tone: 'calm' };
    case 'unsaved':
      return { text: save.unsaved, tone: 'busy' };
    case 'saving':
      return { text: save.saving, tone: 'busy' };
    case 'saved':
      return { text: save.saved(formatTime(state.at)), tone: 'good' };
    default:
      return { text: save.failed[failureKey(state.failure)], tone: 'bad' };
  }
}

/**
 * What the user can do about a save that trying again will not help. `kept`: whether this browser holds a copy. `detail`: what the
 * service says of a refusal.
 */
export function failureAdvice(failure: Failure, kept: boolean, detail?: string): string | undefined {
  const { save } = texts();
  const copyText = kept ? save.kept : save.keptHere;
  switch (failure) {
    case 'session':
      return save.adviceSession(copyText);
    case 'forbidden':
      return save.adviceForbidden(copyText);
    case 'tenant-suspended':
      return save.adviceTenantSuspended(copyText);
    case 'too-many-plugins':
      return save.adviceTooManyPlugins(copyText);
    case 'too-large':
      return save.adviceTooLarge(copyText);
    case 'storage-full':
      return save.adviceStorageFull(copyText);
    case 'refused':
      return withDetail(save.adviceRefused(copyText), detail);
    case 'conflict':
      return save.adviceConflict(copyText);
    case 'deleted':
      return save.adviceDeleted(copyText);
    default:
      // The queue tries again, so the status line is enough, unless closing the page would lose the text.
      return kept ? undefined : save.adviceNoCopy;
  }
}
