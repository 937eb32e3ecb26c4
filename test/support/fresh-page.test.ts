import { expect } from '@open-wc/testing';

// This runs twice (fresh-page-again.test.ts imports it), and the second run must find nothing that the first one left.
describe('a test file', () => {
  it('starts on a page without the state of another', () => {
    expect(document.cookie).to.equal('');
    expect(localStorage).to.have.length(0);
    expect(sessionStorage).to.have.length(0);
    expect(history.length).to.be.lessThan(3);

    document.cookie = 'left=over';
    localStorage.setItem('left', 'over');
    sessionStorage.setItem('left', 'over');
    for (let entry = 0; entry < 5; entry += 1) history.pushState({}, '');
    expect(document.cookie).to.equal('left=over');
    expect(history.length).to.be.greaterThan(5);
  });
});
